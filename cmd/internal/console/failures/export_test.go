package failures

// ParseFilterAt is ParseFilter at another time.
var ParseFilterAt = parseFilter
