package candor

// Unexported names that the external tests use.
var (
	PublicText = publicText
	CutText    = cutText
	IsHarness  = isHarness
)

// CutMark ends a text that was cut.
const CutMark = cutMark
