// Package workrail is a server that guides an agent through a workflow, one step at a time, and records its progress.
//
// A workflow is a file: steps in their order, loops with limits, conditions, and what each step needs and must produce. An agent starts
// one and gets the first step with a token. When it has done the step it sends the token back with its notes, and gets the next. What
// was recorded stays: an agent that was interrupted by a crash, a compaction or a new conversation resumes at the same step.
//
// # Promises
//
//   - A step is recorded before its answer is sent, once. Sending a token again returns what was recorded; sending it with other content
//     says that the content differs.
//   - A step that is not complete is blocked, which is not a failure: the answer lists what is missing and holds a token to try again.
//   - Every failure has one of 13 codes, says whether to retry, and says what to do.
//   - A session is pinned to its workflow as it was at the start. A session whose files were damaged is named as such, and what is left
//     of it can be exported.
package workrail
