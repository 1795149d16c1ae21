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
	adviceHunk   = adviceHeader + " " + adviceCounts
	adviceCRLF   = "End the lines of the patch with a line feed alone. Only a line of a file that itself ends in CR LF keeps its CR."
	adviceName   = "Give the same name on both sides, as in '--- a/NAME' and '+++ b/NAME', or /dev/null for a file that is not there."
	adviceText   = "Send changes of text only; leave the rest to a person."
	adviceFences = "Send the text between the Markdown fences, without the fences."
	adviceSplit  = "Split the change into several smaller patches."
)

// refusal is why a line that begins with a prefix is refused.
type refusal struct{ prefix, advice, message string }

// find returns the refusal of a line, or nil.
func find(line string, refusals []refusal) *refusal {
	for i := range refusals {
		if strings.HasPrefix(line, refusals[i].prefix) {
			return &refusals[i]
		}
	}
	return nil
}

// formats lists the first lines of patches in formats other than unified diff.
var formats = []refusal{
	{"```", adviceFences, "it is wrapped in a Markdown fence"},
	{"*** Begin Patch", adviceFormat, "it is in the format of '*** Begin Patch', which is not a unified diff"},
	{"*** ", adviceFormat, "it is a context diff, which is not a unified diff"},
	{"<<<<<<< ", adviceFormat, "it is a pair of blocks to search and to replace, which is not a unified diff"},
	{"diff --cc ", "Create the diff against one version of the file.", "it is the combined diff of a merge"},
}

// foreign reports patches in formats other than unified diff.
func foreign(text []byte) error {
	line := 0
	for l := range bytes.Lines(text) {
		line++
		s := strings.TrimSpace(string(l[:min(len(l), 80)]))
		if s == "" {
			continue
		}
		if r := find(s, formats); r != nil {
			return invalid(line, r.advice, "%s", r.message)
		}
		return nil
	}
	return invalid(0, adviceFormat, "it is empty")
}

// gitLines lists the lines between "diff --git" and the names that are refused.
var gitLines = []refusal{
	{"rename ", "Create the new file and delete the old one in one patch.", "a patch cannot rename a file here"},
	{"similarity index ", "Create the new file and delete the old one in one patch.", "a patch cannot rename a file here"},
	{"copy ", "Create the new file with its whole content.", "a patch cannot copy a file here"},
	{"GIT binary patch", adviceText, "a patch cannot change a binary file here"},
	{"Binary files ", adviceText, "a patch cannot change a binary file here"},
	{"old mode ", "Leave out the lines with modes.", "a patch cannot set the mode of a file here"},
	{"new mode ", "Leave out the lines with modes.", "a patch cannot set the mode of a file here"},
}
