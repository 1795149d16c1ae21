package zoo

import "strings"

// Personality is a set of defects with a name.
type Personality struct {
	Name    string   `json:"name"`
	About   string   `json:"about"`
	Defects []string `json:"defects"` // ids
}

// The personalities that have no defects by their ids.
const (
	PersonalityAll    = "all"
	PersonalityHonest = "honest"
	PersonalityDual   = "dual" // its tools are [DualTools]
)

// Personalities returns all personalities. The caller owns the slice.
func Personalities() []Personality {
	return []Personality{
		{PersonalityAll, "Every tool with a defect, and of the defects of the server as a whole those that do not exclude each other.", compatible()},
		{PersonalityHonest, "Nothing is wrong with it.", nil},
		{"go-sdk", "Fails as the Go SDK does: the number 0, and an end of it all where a handler panics or a line is no JSON.",
			[]string{"number-zero", "resource-zero", "null-result", "first-issue", "crash", "keeps-on", "malformed-dies"}},
		{"typescript", "Fails as the TypeScript SDK does: everything is isError with a number in its text.",
			[]string{"mcp-prefix", "unknown-tool-result", "leak-stack", "output-conflict", "malformed-silent"}},
		{"python", "Fails as the Python SDKs do: isError with the name of the tool in front, or with nothing else.",
			[]string{"executing-prefix", "calling-prefix", "masked-generic", "unknown-tool-result", "malformed-silent"}},
		{PersonalityDual, "The 27 tools of the dual-envelope inventory: 19 throw, 8 return their failures as data.", nil},
		{"hostile", "Noise, floods and leaks.",
			[]string{"banner", "noise", "flood", "huge-error", "input-echo", "leak-stack", "leak-panic", "leak-path", "leak-url", "leak-token",
				"wrong-id", "answered-twice", "hang", "late", "null-result", "oversize-dies"}},
		{"masking", "Failures that look like successes.", masking()},
	}
}

// compatible are all defects, less those of the server as a whole that bring out with a case what another one brings out already.
func compatible() []string {
	var ids []string
	taken := map[string]bool{}
	for _, c := range cages() {
		free := true
		for _, name := range c.Cases {
			free = free && (c.Tool != "" || !taken[name])
		}
		if !free {
			continue
		}
		ids = append(ids, c.ID)
		if c.Tool == "" {
			for _, name := range c.Cases {
				taken[name] = true
			}
		}
	}
	return ids
}

func masking() []string {
	var ids []string
	for _, c := range masked() {
		ids = append(ids, c.ID)
	}
	for _, c := range upstreams() {
		if strings.HasPrefix(c.ID, "up-masked") || c.ID == "up-garbage" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
