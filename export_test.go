package candor

// What the tests of the outside need to see of the inside.
var (
	PublicText = publicText
	CutText    = cutText
	IsHarness  = isHarness
)

// CutMark ends a text that was cut.
const CutMark = cutMark
