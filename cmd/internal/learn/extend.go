package learn

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
)

// Extend returns the text of a profile with further masks, and how many were added. Masks that the profile has already are not added again.
// All other bytes of the file, comments included, stay as they are. A nil file gives a new profile.
func Extend(file []byte, server string, masks []profile.Mask) (out []byte, added int, err error) {
	if file == nil {
		p := profile.Profile{Server: server, Masks: masks}
		return p.YAML(), len(masks), nil
	}
	old, err := config.ParseProfile("the profile", file)
	if err != nil {
		return nil, 0, err
	}
	if old.Server != "" && server != "" && old.Server != server {
		return nil, 0, fmt.Errorf("the profile is for the server %q, the rules are for %q", old.Server, server)
	}
	masks = slices.DeleteFunc(slices.Clone(masks), func(m profile.Mask) bool { return contains(old, &m) })
	if len(masks) == 0 {
		return file, 0, nil
	}
	out, err = insert(file, masks)
	if err != nil {
		return nil, 0, err
	}
	// The edit does not parse YAML, so the result is compared with the old rules.
	now, err := config.ParseProfile("the profile", out)
	if err != nil || len(now.Rules.Masks) != len(old.Rules.Masks)+len(masks) || len(now.Rules.Codes) != len(old.Rules.Codes) || len(now.Rules.Results) != len(old.Rules.Results) {
		return nil, 0, errLayout
	}
	return out, len(masks), nil
}

var errLayout = errors.New("the list of masks is not written with one item per line, so it cannot be extended")

// contains reports whether a profile has a mask with the same conditions.
func contains(p *config.Profile, m *profile.Mask) bool {
	for i := range p.Rules.Masks {
		have := &p.Rules.Masks[i]
		if have.Tool == profile.Pattern(m.Tool) && have.Path == m.Path && have.Equals == m.Equals && have.Text == m.Text && have.Except == m.Except {
			return true
		}
	}
	return false
}

var (
	masksLine = regexp.MustCompile(`^masks:[ \t]*(#.*)?\r?$`)
	itemLine  = regexp.MustCompile(`^([ \t]*)- `)
)

// insert adds masks at the end of the list in a YAML text, or a list at the end of the text.
func insert(file []byte, masks []profile.Mask) ([]byte, error) {
	lines := strings.SplitAfter(string(file), "\n")
	head := slices.IndexFunc(lines, func(line string) bool { return masksLine.MatchString(strings.TrimSuffix(line, "\n")) })
	if head < 0 {
		if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "masks") }) {
			return nil, errLayout
		}
		lines = append(terminated(lines), "masks:\n")
		head = len(lines) - 1
	}
	end, indent := head+1, "  "
	for i := head + 1; i < len(lines); i++ {
		line := lines[i]
		if found := itemLine.FindStringSubmatch(line); found != nil && end == head+1 {
			indent = found[1]
		}
		if blank := strings.TrimSpace(line); blank == "" || blank[0] == '#' {
			continue
		}
		if !strings.ContainsAny(line[:1], " \t-") || strings.HasPrefix(line, "---") {
			break
		}
		end = i + 1
	}
	var added strings.Builder
	for i := range masks {
		added.WriteString(masks[i].YAML(indent))
	}
	text := added.String()
	if strings.Contains(string(file), "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	before := terminated(slices.Clone(lines[:end]))
	return []byte(strings.Join(before, "") + text + strings.Join(lines[end:], "")), nil
}

// terminated ends the last line of a text.
func terminated(lines []string) []string {
	if n := len(lines); n > 0 && lines[n-1] != "" && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n"
	}
	return lines
}
