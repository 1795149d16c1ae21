package kaiza

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/plural"
)

type editArgs struct {
	Path   string `json:"path"`
	Plan   string `json:"plan_hash"`
	Old    string `json:"old_text"`
	New    string `json:"new_text"`
	All    bool   `json:"replace_all"`
	DryRun bool   `json:"dry_run"`
}

func (k *System) editFile() workbench.Tool {
	return workbench.Tool{
		Name: "edit_file", Title: "Edit a file", Destructive: true,
		About: "Replace a text in a file by another one, within an approved plan. The answer shows the changed lines. With dry_run nothing is written.",
		Input: `{` + pathProperty + `,
"old_text":{"type":"string","minLength":1,"maxLength":1048576,"description":"The text to replace, exactly as read_file shows it, with enough around it to occur only once."},
"new_text":{"type":"string","maxLength":1048576,"description":"The text to put there."},
"replace_all":{"type":"boolean","description":"Replace every occurrence."},
"dry_run":{"type":"boolean","description":"Only check plan and policy and show the changed lines."},
	` + planProperty + `}`,
		Required: []string{"path", "old_text", "new_text", "plan_hash"},
		Codes:    changeCodes,
		Run:      workbench.Handle(k.edit),
	}
}

func (k *System) edit(ctx context.Context, c *workbench.Call, in editArgs) (workbench.Reply, error) {
	d, p, err := k.named(c, in.Path)
	if err != nil {
		return workbench.Reply{}, err
	}
	if in.Old == in.New {
		return workbench.Reply{}, wrongValue("/new_text", "it is the same as old_text")
	}
	ch := &change{plan: in.Plan}
	if err := k.needsPlan(d, ch, p); err != nil {
		return workbench.Reply{}, err
	}
	before, err := current(d, p, "", true)
	if err != nil {
		return workbench.Reply{}, err
	}
	after, err := edited(before, in)
	if err != nil {
		return workbench.Reply{}, err
	}
	ch.files = []workspace.Change{{Path: p, Before: before, After: []byte(after)}}
	diff := changedLines(string(before.Content), after)
	if in.DryRun {
		if err := k.authorise(d, ch); err != nil {
			return workbench.Reply{}, err
		}
		return workbench.Reply{Text: []string{diff, "Nothing was written: this was a dry run.\n"}, Data: map[string]any{"dry_run": true, "files": changed(ch.files), "diff": diff}}, nil
	}
	done, err := k.finish(ctx, c, d, ch)
	if err == nil {
		done.Text = append([]string{diff}, done.Text...)
	}
	return done, err
}

// edited returns the content of a file after an edit. The error is PATCH_APPLY_FAILED if the text does not occur, or
// more than once.
func edited(before *workspace.File, in editArgs) (string, error) {
	content := string(before.Content)
	fails := func(message, advice string) error {
		return candor.New(kaizacode.PatchApplyFailed, message, candor.WithSuggestion(advice))
	}
	count := strings.Count(content, in.Old)
	switch {
	case !utf8.ValidString(content):
		return "", candor.New(kaizacode.FileReadFailed, before.Path.String()+" is not text.")
	case count == 0 && strings.Contains(strings.ReplaceAll(content, "\r\n", "\n"), in.Old):
		return "", fails("The lines of "+before.Path.String()+" end in CR LF, those of old_text in LF.", "Give old_text and new_text with CR LF at the end of each line.")
	case count == 0:
		return "", fails("The file "+before.Path.String()+" does not hold old_text.", "Read the file and copy old_text exactly, with its spaces and line breaks.")
	case count > 1 && !in.All:
		return "", fails(fmt.Sprintf("The file %s holds old_text %s.", before.Path.String(), plural.Count(count, "time", "times")),
			"Give more of the text around the place as old_text, so that it occurs only once, or replace_all: true for every place.")
	}
	return strings.ReplaceAll(content, in.Old, in.New), nil
}

// maxDiff limits the text of the changed lines, in bytes.
const maxDiff = 8 << 10

// changedLines returns the lines from the first to the last that differ, before and after a change.
func changedLines(before, after string) string {
	old, changed := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	first := 0
	for first < min(len(old), len(changed)) && old[first] == changed[first] {
		first++
	}
	last := 0
	for last < min(len(old), len(changed))-first && old[len(old)-1-last] == changed[len(changed)-1-last] {
		last++
	}
	var out strings.Builder
	fmt.Fprintf(&out, "@@ line %d @@\n", first+1)
	write := func(mark string, lines []string) {
		for _, line := range lines {
			if out.Len()+len(line) > maxDiff {
				out.WriteString(mark + "…\n")
				return
			}
			out.WriteString(mark + strings.TrimRight(line, "\r\n") + "\n")
		}
	}
	write("-", old[first:len(old)-last])
	write("+", changed[first:len(changed)-last])
	return out.String()
}
