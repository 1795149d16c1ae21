// Package judge holds what was seen of a server against the rules, and says what it means.
//
// The rules of the room: it is pure. It does no I/O, reads no clock, and the same run gives the same report, byte for byte. What an answer is,
// and what it says, is asked of package contract; what a good server would have done is decided here.
//
// # Grades
//
// Each rule that a tool breaks counts once, however many cases show it:
//
//	A  nothing of minor severity or above
//	B  minor things only
//	C  one to three major ones
//	D  four major ones or more, or one or two critical ones
//	F  three critical ones or more, or no case that was due an answer got one
//
// The score is 100 less 30 for each critical rule, 10 for each major and 3 for each minor one; it moves where the grade does not. What is
// only worth knowing counts nowhere.
//
// The cases that belong to no tool, which test the protocol, are graded like one more tool. The grade of a server is the mean of all of
// these, rounded, and then bounded, because a mean hides what is bad in a few tools: it is an A only if every one of them is, at most a C if
// a critical rule is broken anywhere, and at most a D if more than a quarter of the tools that have a grade have a D or worse.
//
// A tool without a failure and without a finding has no grade, and so has a server without a tool that has one: nothing was seen of how it
// fails. What a tool does when its upstream fails is judged only if it has asked the upstream at all.
package judge
