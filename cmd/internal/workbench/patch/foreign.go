package patch

import (
	"bytes"
	"strings"
)

// Suggestions for the most common mistakes.
const (
	adviceFormat = "Create a unified diff: a line '--- a/NAME', a line '+++ b/NAME', then for each hunk a header '@@ -START,COUNT +START,COUNT @@' " +
		"and lines that begin with a blank, a minus or a plus."
	adviceHeader = "Give each hunk a header with numbers, '@@ -START,COUNT +START,COUNT @@': the first line and the number of lines, before and after."
	adviceCounts = "Count again: the first count is that of the lines with a blank or a minus, the second that of the lines with a blank or a plus. " +
		"An empty line within a hunk is a blank alone."
	adviceCRLF = "End the lines of the patch with a line feed alone. Only a line of a file that itself ends in CR LF keeps its CR."
	adviceName = "Give the same name on both sides, as in '--- a/NAME' and '+++ b/NAME', or /dev/null for a file that is not there."
	adviceText = "Send changes of text only; leave the rest to a person."
)

// foreign reports patches in formats other than unified diff.
func foreign(text []byte) error {
	line := 0
	for l := range bytes.Lines(text) {
		line++
		switch s := strings.TrimSpace(string(l[:min(len(l), 80)])); {
		case s == "":
			continue
		case strings.HasPrefix(s, "```"), strings.HasPrefix(s, "~~~"):
			return invalid(line, "Send the text between the Markdown fences, without the fences.", "it is wrapped in a Markdown fence")
		case strings.HasPrefix(s, "*** Begin Patch"), strings.HasPrefix(s, "*** Update File"), strings.HasPrefix(s, "*** Add File"):
			return invalid(line, adviceFormat, "it is in the format of '*** Begin Patch', which is not a unified diff")
		case strings.HasPrefix(s, "*** "):
			return invalid(line, adviceFormat, "it is a context diff, which is not a unified diff")
		case strings.HasPrefix(s, "<<<<<<< "):
			return invalid(line, adviceFormat, "it is a pair of blocks to search and to replace, which is not a unified diff")
		case strings.HasPrefix(s, "diff --cc "), strings.HasPrefix(s, "diff --combined "):
			return invalid(line, "Create the diff against one version of the file.", "it is the combined diff of a merge")
		}
		return nil
	}
	return invalid(0, adviceFormat, "it is empty")
}
