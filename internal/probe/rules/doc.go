// Package rules checks the observations of a run against the rules and returns a report.
//
// It does no I/O and reads no clock: the same run gives the same report, byte for byte. Package contract classifies each answer; this package
// decides how a good server would have answered.
//
// # Grades
//
// Each rule that a tool breaks counts once, regardless of the number of cases that show it:
//
//	A  nothing of minor severity or above
//	B  only minor rules are broken
//	C  one to three major ones
//	D  four major ones or more, or one or two critical ones
//	F  three critical ones or more, or no case that needed an answer got one
//
// The score is 100 less 30 for each critical rule, 10 for each major and 3 for each minor one, so it shows changes that
// do not change the grade. Rules with the severity info do not count.
//
// The protocol cases, which belong to no tool, are graded like one more tool. The grade of a server is the mean of all of these, rounded
// and then bounded, because a mean hides a few bad tools: it is an A only if every one of them is, at most a C if
// a critical rule is broken anywhere, and at most a D if more than a quarter of the tools that have a grade have a D or worse.
//
// A tool without a failure and without a finding has no grade, because nothing shows how it fails. The same is true for a server if no one of its
// tools has one. The upstream cases of a tool are judged only if the tool sent a request to the upstream.
package rules
