package failures

// SetMaxGroups limits the combinations of names that are kept in memory, and returns a function that restores the
// limit. spare is the number of those without the name of a tool.
func SetMaxGroups(n, spare int) (restore func()) {
	before, beforeSpare := maxGroups, spareGroups
	maxGroups, spareGroups = n, spare
	return func() { maxGroups, spareGroups = before, beforeSpare }
}

// SetMinSaved sets the bytes of the ledger that are worth a copy of the index, and returns a function that restores the
// number.
func SetMinSaved(n int64) (restore func()) {
	before := minSaved
	minSaved = n
	return func() { minSaved = before }
}

// ParseFilterAt is ParseFilter at another time.
var ParseFilterAt = parseFilter
