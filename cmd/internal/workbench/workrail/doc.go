// Package workrail is a server that guides an agent through a workflow, one step at a time, and records its progress.
//
// A workflow is a file: ordered steps, loops with limits, conditions, and the inputs and outputs of each step. An agent
// starts a workflow and gets the first step with a token. When it has done the step it sends the token back with its
// notes, and gets the next. Progress is durable: an agent that was interrupted by a crash, a compaction or a new
// conversation resumes at the same step.
//
// # Promises
//
//   - A step is recorded once, before its answer is sent. Sending a token again returns the recorded answer; sending it with other content
//     reports that the content differs.
//   - An incomplete step is blocked, which is not a failure: the answer lists the missing items and holds a token to try again.
//   - Every failure has one of 13 codes, retry advice, and a suggestion.
//   - A session is pinned to its workflow as of the start. A damaged session is reported as damaged, and its readable events can be
//     exported.
package workrail
