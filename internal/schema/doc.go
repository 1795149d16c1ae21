// Package schema checks the arguments and results of tools against their JSON Schema. For everything that is wrong it reports the path,
// what was expected, and a value that would pass.
//
// Rules of this package:
//
//   - Nothing is loaded. A schema that points to a file or an address is refused; the drafts' own schemas are built in.
//   - The common answer is cheap. [Schema.Accepts] is a scan without memory; it says yes only where the full
//     check would, and leaves every doubt to [Schema.Explain].
//   - A value of the caller is never repeated: not in a message, not in a hint, not in a template. Only its type and the names
//     of its keys are shown, cleaned and cut. Everything else comes from the schema.
//   - What is shown as an example or a template passes the schema it was made for; otherwise it is not shown.
//   - Same schema, same value, same report: issues are sorted and bounded, and what is beyond the bound is counted.
//   - Both sides may be hostile. Bytes, depth, size of numbers and steps of work are bounded before the work is done.
//   - What is decoded is bounded, however long the text. A value that takes too long to explain is only checked. One that takes
//     too long to check is reported as unchecked, never as wrong: the value may be valid, and the caller must not be refused
//     because a bound of this package was reached.
package schema
