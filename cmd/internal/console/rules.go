package console

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
)

// maxRules is the number of rules that are made at once.
const maxRules = 50

// ErrChanged means that a profile was changed after the preview.
var ErrChanged = errors.New("the profile was changed in the meantime")

// rulesView is the data of the page that shows a change before it is made.
type rulesView struct {
	Server, Tool string
	IDs          []string
	Change       Change
	Lines        []diffLine
	Back         string
	Action       string
}

// change returns the change that the rules in a request make.
func (s *Server) change(r *http.Request, ids []string) (Change, error) {
	if err := s.checkRules(ids); err != nil {
		return Change{}, err
	}
	return ruleError(s.o.Rules.Preview(r.Context(), r.PathValue("server"), r.PathValue("tool"), ids))
}

func (s *Server) checkRules(ids []string) error {
	switch {
	case s.o.Rules == nil:
		return &problem{Status: http.StatusNotFound, Title: "No rules here", Detail: "This console writes no rules. Use candor learn, or start the console with --profiles."}
	case len(ids) == 0:
		return &problem{Status: http.StatusBadRequest, Title: "No rule was chosen", Detail: "Go back and choose at least one rule."}
	case len(ids) > maxRules:
		return &problem{Status: http.StatusBadRequest, Title: "Too many rules", Detail: "Choose at most 50 rules."}
	}
	return nil
}

// ruleError turns an error of a [RuleMaker] into a problem.
func ruleError(c Change, err error) (Change, error) {
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, ErrChanged):
		return c, &problem{Status: http.StatusConflict, Title: "The profile was changed", Detail: "Another program changed the profile in the meantime. Look at the change again."}
	}
	return c, &problem{Status: http.StatusUnprocessableEntity, Title: "The rule cannot be made", Detail: err.Error()}
}

// rules returns the change that rules make to a profile.
func (s *Server) rules(r *http.Request) (*rulesView, error) {
	ids := r.URL.Query()["id"]
	change, err := s.change(r, ids)
	if err != nil {
		return nil, err
	}
	v := &rulesView{
		Server: r.PathValue("server"), Tool: r.PathValue("tool"), IDs: ids, Change: change, Lines: addedLines(change.Before, change.After),
	}
	v.Back = toolPath(v.Server, v.Tool)
	v.Action = v.Back + "/rules"
	return v, nil
}

func (v *rulesView) title() string { return "New rule for " + v.Tool }

// addedLines compares two texts and returns the lines of the second.
func addedLines(before, after string) []diffLine {
	a, b := &exchangeText{}, &exchangeText{}
	for _, pair := range []struct {
		to   *exchangeText
		text string
	}{{a, before}, {b, after}} {
		for line := range strings.SplitSeq(strings.TrimSuffix(pair.text, "\n"), "\n") {
			pair.to.Lines = append(pair.to.Lines, diffLine{Text: line})
		}
	}
	markChanges(a.Lines, b.Lines)
	return b.Lines
}

// write makes the change that was shown.
func (s *Server) write(r *http.Request) (Change, error) {
	if err := r.ParseForm(); err != nil {
		return Change{}, &problem{Status: http.StatusBadRequest, Title: "The form cannot be read", Detail: err.Error()}
	}
	ids := r.PostForm["id"]
	if err := s.checkRules(ids); err != nil {
		return Change{}, err
	}
	done, err := ruleError(s.o.Rules.Write(r.Context(), r.PathValue("server"), r.PathValue("tool"), ids, r.PostForm.Get("version")))
	if err == nil {
		s.o.Log.Info("a rule was written by the console", slog.String("file", done.File), slog.Int("rules", done.Added))
	}
	return done, err
}

func (s *Server) writeRules(w http.ResponseWriter, r *http.Request) {
	if _, err := s.write(r); err != nil {
		s.writeError(w, r, err)
		return
	}
	http.Redirect(w, r, toolPath(r.PathValue("server"), r.PathValue("tool"))+"?written", http.StatusSeeOther)
}

func (s *Server) apiWrite(w http.ResponseWriter, r *http.Request) {
	change, err := s.write(r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, change)
}
