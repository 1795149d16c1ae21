package plan

// glob is one scope, ready to be compared.
type glob struct{ written string }
