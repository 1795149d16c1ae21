package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/preview"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/proof"
	"github.com/candor-mcp/candor/wire"
)

// Limits of a failure's page.
const (
	maxSimilar = 10
	proofWait  = 700 * time.Millisecond // a proof reads the whole chain; a page does not wait longer
)

// failureView is the data of one failure's page, and its JSON.
type failureView struct {
	Row       failures.Failure   `json:"failure"`
	Retry     string             `json:"retryAdvice"` // in words
	Said      *exchangeText      `json:"upstream"`    // null if the server said nothing
	Got       *exchangeText      `json:"client"`      // null if the client got the answer of the server unchanged
	Do        []string           `json:"whatToDo"`
	Code      *codeView          `json:"code"`
	Call      string             `json:"call,omitempty"`
	Rule      string             `json:"rule,omitempty"` // that made it a suspected failure
	Arguments *ledger.RecordArgs `json:"arguments,omitempty"`
	Cause     string             `json:"cause,omitempty"`
	Similar   []failures.Failure `json:"similar"`
	Proof     proofView          `json:"proof"`
	Entry     json.RawMessage    `json:"entry"`

	Read        []preview.View `json:"-"` // by models, that of the client which made the call first
	ReadBy      string         `json:"-"` // that client, or "" if it is unknown
	NotRead     string         `json:"-"` // why Read is empty
	Pretty      string         `json:"-"` // the entry, indented
	SimilarAddr string         `json:"-"`
}

// exchangeText is a recorded answer.
type exchangeText struct {
	Text     string     `json:"text"`
	Bytes    int64      `json:"bytes"`
	Cut      bool       `json:"cut"`
	Redacted bool       `json:"redacted"`
	Lines    []diffLine `json:"-"`
}

// proofView says whether a signed checkpoint covers the entry.
type proofView struct {
	State string `json:"state"` // proved, notCovered, failed or slow
	Text  string `json:"text"`
	Size  int64  `json:"checkpointSize,omitempty"` // entries that the checkpoint covers
	Key   string `json:"key,omitempty"`
	Path  string `json:"path"` // of the proof as a file
}

// idOf returns the id in the path of a request.
func idOf(r *http.Request) (failures.ID, error) {
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil || seq == 0 {
		return failures.ID{}, &problem{Status: http.StatusNotFound, Title: "No such failure", Detail: "The address of a failure is /failure/CHAIN/NUMBER."}
	}
	return failures.ID{Chain: strings.Replace(r.PathValue("chain"), ".", "/", 1), Seq: seq}, nil
}

func (v *failureView) title() string { return v.Row.Code + " of " + v.Row.Server }

// failure reads one failure with all that is known about it.
func (s *Server) failure(r *http.Request) (*failureView, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	record, line, err := s.o.Failures.Get(r.Context(), id)
	if err != nil {
		return nil, err
	}
	row := failures.Of(record)
	row.ID = id
	v := &failureView{
		Row: row, Call: record.Call, Arguments: record.Args, Cause: record.Cause, Entry: line,
		Said: textOf(record.Upstream), Got: textOf(record.Envelope), Code: codeViewOf(record.Domain, record.Code), Rule: ruleOf(record),
		SimilarAddr: listPath(failures.Filter{Server: row.Server, Tool: row.Tool, Code: row.Code}.Values()),
	}
	if record.Retry != nil {
		v.Retry = retryWords(*record.Retry)
	}
	compare(v.Said, v.Got)
	if read, err := preview.OfRecord(record); err != nil {
		v.NotRead = err.Error()
	} else {
		v.Read, v.ReadBy = read.Views(), contract.ClientOf(read.Client).Title
	}
	v.Pretty = indented(string(line))
	v.whatToDo(record)
	if v.Similar, err = s.o.Failures.Similar(r.Context(), row, maxSimilar); err != nil {
		return nil, err
	}
	v.Proof = s.prove(r.Context(), id)
	return v, nil
}

func textOf(t *ledger.RecordText) *exchangeText {
	if t == nil {
		return nil
	}
	return &exchangeText{Text: t.Text, Bytes: t.Bytes, Cut: t.Cut, Redacted: t.Redacted}
}

// ruleOf returns the rule of package contract behind a suspicion.
func ruleOf(r *ledger.Record) string {
	var data struct{ Rule string }
	_ = json.Unmarshal(r.Data, &data) // without data there is no rule
	return data.Rule
}

// indented returns JSON with line ends, or other text unchanged.
func indented(text string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil {
		return text
	}
	return out.String()
}

// whatToDo collects the advice, the most specific first.
func (v *failureView) whatToDo(record *ledger.Record) {
	add := func(text string) {
		for _, have := range v.Do {
			if have == text {
				return
			}
		}
		if text != "" {
			v.Do = append(v.Do, text)
		}
	}
	if v.Row.Suspected {
		add("The client got this answer as a success. If it is a failure, make a rule for the tool, so that the client sees it.")
	}
	advice := ""
	if record.Envelope != nil {
		m := wire.Parse([]byte(record.Envelope.Text), wire.Limits{AllowLoneSurrogates: true})
		if e := contract.Read(&contract.Exchange{Response: m}).Error; e != nil {
			advice = e.Suggestion()
		}
	}
	if advice == "" && v.Code != nil {
		advice = v.Code.Action // that of the error knows more, and may differ
	}
	add(advice)
	if v.Retry != "" {
		add("Retry: " + v.Retry + ".")
	}
}

// prove makes the proof of an entry if that does not take long.
func (s *Server) prove(ctx context.Context, id failures.ID) proofView {
	path := id.Path() + "/proof.json"
	ctx, cancel := context.WithTimeout(ctx, proofWait)
	defer cancel()
	dir, err := s.ledgerOf(id)
	if err != nil {
		return proofView{State: "failed", Text: "The entry cannot be proved: " + err.Error(), Path: path}
	}
	made, err := proof.Make(ctx, dir, ledger.Receipt{Chain: id.Name(), Seq: id.Seq})
	switch {
	case errors.Is(err, proof.ErrNotCovered):
		return proofView{State: "notCovered", Text: "No signed checkpoint covers the entry yet. Load the page again in a second.", Path: path}
	case errors.Is(err, context.DeadlineExceeded):
		return proofView{State: "slow", Text: "The chain is long, so the proof is made when you ask for the file.", Path: path}
	case err != nil:
		return proofView{State: "failed", Text: "The entry cannot be proved: " + err.Error(), Path: path}
	}
	keys, err := ledger.PublicKeys(dir)
	if err != nil {
		return proofView{State: "failed", Text: "The keys of the ledger cannot be read: " + err.Error(), Path: path}
	}
	result, err := proof.Check(made, keys...)
	if err != nil {
		return proofView{State: "failed", Text: "The proof does not hold: " + err.Error(), Path: path}
	}
	return proofView{
		State: "proved", Size: result.Size, Key: result.Key, Path: path,
		Text: "The entry is in the ledger: a signed checkpoint over " + numberWords(result.Size) + " entries covers it.",
	}
}

// ledgerOf returns the folder of the ledger that has an entry. The id comes from an address, so its node is checked.
func (s *Server) ledgerOf(id failures.ID) (string, error) {
	node := id.Node()
	if node == "" && !s.o.Failures.HasNodes() {
		return s.o.Dir, nil
	}
	if !s.o.Failures.HasNodes() || !fleet.ValidNode(node) {
		return "", failures.ErrNotFound
	}
	return filepath.Join(s.o.Dir, node), nil
}

// proofFile makes the proof of an entry as a file for candor ledger check-proof.
func (s *Server) proofFile(w http.ResponseWriter, r *http.Request) {
	id, err := idOf(r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	dir, err := s.ledgerOf(id)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	made, err := proof.Make(r.Context(), dir, ledger.Receipt{Chain: id.Name(), Seq: id.Seq})
	switch {
	case errors.Is(err, proof.ErrNoEntry):
		err = failures.ErrNotFound
	case errors.Is(err, proof.ErrNotCovered):
		err = &problem{Status: http.StatusConflict, Title: "Not covered yet", Detail: "No signed checkpoint covers the entry yet. Try again in a second."}
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="proof-`+strconv.FormatUint(id.Seq, 10)+`.json"`)
	writeJSON(w, http.StatusOK, made)
}

// refView is the data of the page for a ref that is not unique.
type refView struct {
	Prefix  string
	Matches []failures.Failure
}

// refPage shows the failure whose ref begins with the prefix, or the list of them.
func (s *Server) refPage(w http.ResponseWriter, r *http.Request) {
	prefix := r.PathValue("prefix")
	found, err := s.o.Failures.Find(r.Context(), prefix)
	switch {
	case err != nil:
		s.writeError(w, r, err)
	case len(found) == 1:
		http.Redirect(w, r, found[0].ID.Path(), http.StatusSeeOther)
	case len(found) == 0:
		s.writeProblem(w, r, &problem{Status: http.StatusNotFound, Title: "No such ref", Detail: "The ledger has no failure whose ref begins with this text."})
	default:
		s.render(w, r, http.StatusOK, "refs", "Failures with the ref "+prefix, refView{prefix, found})
	}
}
