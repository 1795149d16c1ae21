package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

// cefExport writes the Common Event Format: CEF:0|vendor|product|version|id|name|severity|extension.
type cefExport struct{ w io.Writer }

func (e cefExport) add(l *ledger.Line) error {
	r, err := l.Record()
	if err != nil {
		return err
	}
	id, name, severity := string(r.Kind), string(r.Kind), 1
	if r.Code != "" {
		id, name, severity = r.Code, r.Code, severityOf(&r)
		if code, err := candor.ParseCode(r.Domain + "/" + r.Code); err == nil {
			name = code.Sentence()
		}
	}
	var ext strings.Builder
	put := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&ext, "%s=%s ", key, cefValue(value))
		}
	}
	put("rt", fmt.Sprint(r.Time.UnixMilli()))
	put("externalId", fmt.Sprintf("%s/%d", r.Chain, r.Seq))
	put("act", r.Tool)
	put("outcome", string(r.Outcome))
	put("cat", string(r.Class))
	put("cn1Label", "number")
	put("cn1", orNone(int64(r.Number)))
	put("cs1Label", "ref")
	put("cs1", r.Ref)
	put("cs2Label", "session")
	put("cs2", r.SessionID)
	put("cs3Label", "hash")
	put("cs3", r.Hash)
	if server := serverOf(&r); server != "" {
		put("cs4Label", "server")
		put("cs4", server)
	}
	put("msg", r.Cause)
	_, err = fmt.Fprintf(e.w, "CEF:0|Candor|ledger|1|%s|%s|%d|%s\n", cefHeader(id), cefHeader(name), severity, strings.TrimSuffix(ext.String(), " "))
	return err
}

func (e cefExport) end() error { return nil }

// severityOf returns 3 for errors that the caller can correct, 8 for faults and possible attacks, and 5 otherwise.
func severityOf(r *ledger.Record) int {
	switch r.Class {
	case candor.ClassInternal, candor.ClassDenied, candor.ClassCorrupt:
		return 8
	case candor.ClassBadRequest, candor.ClassNotFound:
		return 3
	default:
		return 5
	}
}

func cefHeader(text string) string {
	return strings.NewReplacer(`\`, `\\`, `|`, `\|`, "\n", " ", "\r", " ").Replace(text)
}

func cefValue(text string) string {
	return strings.NewReplacer(`\`, `\\`, `=`, `\=`, "\n", `\n`, "\r", `\r`).Replace(text)
}
