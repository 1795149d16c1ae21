// Package schema checks the arguments and results of tools against their JSON Schema. For each issue it reports the path, the
// expectation, and an example if the schema has one.
//
// Rules of this package:
//
//   - Nothing is loaded. A schema that points to a file or an address is refused; the drafts' own schemas are built in.
//   - The common case is cheap. [Schema.Accepts] scans without allocating; it accepts a value only if the full
//     check would; otherwise [Schema.Explain] decides.
//   - A value of the caller is never repeated: not in a message, not in a hint, not in a template. Only its type and the names
//     of its keys are shown, cleaned and cut. Everything else comes from the schema.
//   - Examples and templates pass the schema that they were made for.
//   - Reports are deterministic: issues are sorted, and those beyond the limit are counted.
//   - Both sides may be hostile. Bytes, depth, size of numbers and steps of work are bounded before the work is done.
//   - The decoded size is bounded. A value that takes too long to explain is only checked. One that takes
//     too long to check is reported as unchecked, never as wrong: the value may be valid, and the caller must not be refused
//     because a bound of this package was reached.
package schema
