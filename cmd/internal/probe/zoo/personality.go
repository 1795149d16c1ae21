package zoo

import (
	"slices"
	"strings"
)

// Personality is a named set of defects.
type Personality struct {
	Name    string   `json:"name"`
	About   string   `json:"about"`
	Defects []string `json:"defects"` // ids
}

// The personalities without a list of defects.
const (
	PersonalityAll    = "all"
	PersonalityHonest = "honest"
	PersonalityDual   = "dual" // its tools are [DualTools]
)

// Personalities returns all personalities. The caller owns the slice.
func Personalities() []Personality {
	return []Personality{
		{PersonalityAll, "Every tool with a defect, and all compatible defects of the server as a whole.", compatible()},
		{PersonalityHonest, "No defects.", nil},
		{"go-sdk", "Fails like the Go SDK: the number 0, and the server ends if a handler panics or a line is not JSON.",
			[]string{"number-zero", "resource-zero", "null-result", "first-issue", "crash", "keeps-on", "malformed-dies"}},
		{"typescript", "Fails like the TypeScript SDK: every failure is isError with a number in its text.",
			[]string{"mcp-prefix", "unknown-tool-result", "leak-stack", "output-conflict", "malformed-silent"}},
		{"python", "Fails like the Python SDKs: isError with the name of the tool before the text, or without a text.",
			[]string{"executing-prefix", "calling-prefix", "masked-generic", "unknown-tool-result", "malformed-silent"}},
		{PersonalityDual, "The 27 tools of the dual-envelope inventory: 19 fail with errors, 8 return failures as data.", nil},
		{"hostile", "Noise, floods and leaks.",
			[]string{"banner", "noise", "flood", "huge-error", "input-echo", "leak-stack", "leak-panic", "leak-path", "leak-url", "leak-token",
				"wrong-id", "answered-twice", "hang", "late", "null-result", "oversize-dies"}},
		{"masking", "Failures that look like successes.", masking()},
	}
}

// compatible returns all defects, without those of the server as a whole that share a case with another.
func compatible() []string {
	var ids, taken []string
	for _, c := range implementations() {
		if c.Tool == "" {
			if slices.ContainsFunc(c.Cases, func(name string) bool { return slices.Contains(taken, name) }) {
				continue
			}
			taken = append(taken, c.Cases...)
		}
		ids = append(ids, c.ID)
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
