package candor

// Unexported names that the external tests use.
var (
	PublicText  = publicText
	CutText     = cutText
	IsFramework = isFramework
)

// CutMark ends a text that was cut.
const CutMark = cutMark
