package redact

import "testing"

// A URL that was used as the name of a tool, or as an id, keeps none of its credentials.
func TestURLAsAnIdentifierLosesItsCredentials(t *testing.T) {
	policy := Policy{ShapesOnly: true}
	for in, want := range map[string]string{
		"https://bob:hunter2secret@host.example/mcp":     "https://[redacted:url-credentials]@host.example/mcp",
		"lookup?ak=hunter2secret":                        "lookup?ak=[redacted:key]",
		"https://h.example/v1?q=1&sig=hunter2secret&n=2": "https://h.example/v1?q=1&sig=[redacted:signature]&n=2",
		"https://h.example/v1?access_token=hunter2":      "https://h.example/v1?access_token=[redacted:token]",
		"https://h.example/v1?apikey=hunter2":            "https://h.example/v1?apikey=[redacted:key]",
		"x%3Fapikey%3Dhunter2":                           "x%3Fapikey%3D[redacted:key]",
	} {
		if got := policy.Text(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
	for _, in := range []string{"read_file", "password=read", "token:refresh", "a.b/c?page=2&sort=key", "get_key=1", "search?key=name"} {
		if got := policy.Text(in); got != in {
			t.Errorf("%s became %s", in, got)
		}
	}
}

// The name of an argument has no secret, however many words it joins.
func TestNameOfAnArgumentStays(t *testing.T) {
	for in, want := range map[string]string{
		`the key "filesCreatedOrUpdated" is missing`: `the key "filesCreatedOrUpdated" is missing`,
		`the key "qWeRtYUiOpAsDfGhJkLzXcV" is bad`:   `the key "[redacted:key]" is bad`,
	} {
		if got := (Policy{}).Text(in); got != want {
			t.Errorf("%s became %s", in, got)
		}
	}
}
