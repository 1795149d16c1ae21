package corpus

// mislabelled lists records whose label can be shown to be wrong, by server, tool and case, with the evidence. They are left
// out of every figure.
var mislabelled = map[[3]string]string{
	{"@mobilenext/mobile-mcp", "mobile_save_screenshot", "nonexistent"}: `labelled a success; the answer is "save_screenshot requires a .png, .jpg, .jpeg file extension … Please fix the issue and try again.": ` +
		`nothing was saved`,
	{"@mobilenext/mobile-mcp", "mobile_save_screenshot", "extra_property"}: `as above`,
	{"@netlify/mcp", "netlify-project-services-updater", "nonexistent"}: `labelled a success; the answer is "You must provide either requireSSOTeamLogin or requirePassword": ` +
		`nothing was updated`,
}

// Mislabelled returns the evidence against the record's label, if there is any.
func (r *Record) Mislabelled() (evidence string, ok bool) {
	evidence, ok = mislabelled[[3]string{r.Server, r.Tool, r.Case}]
	return evidence, ok && r.Success()
}
