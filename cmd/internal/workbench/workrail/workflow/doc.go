// Package workflow reads workflow files: procedures of many steps that a coding agent follows one step at a time.
//
// A file is YAML or JSON. [Parse] is strict: a key that it does not know, a loop without a limit or a condition that
// compares nothing is an error, and every [Problem] has a line, a column and a hint. [Check] also returns warnings.
// [Schema] is a JSON Schema of the file for editors.
//
// A [Workflow] has one canonical text, [Workflow.JSON], which does not depend on how the file was formatted. It can be
// stored and parsed again, and its digest, [Workflow.Hash], pins a run to the workflow that it was started with.
//
// The package only reads bytes; package run walks through the steps.
package workflow
