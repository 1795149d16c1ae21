// Package cobra is fake.
package cobra

// X is x.
var X = 1
