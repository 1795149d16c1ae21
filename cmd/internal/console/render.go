package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/cmd/internal/page"
)

var (
	//go:embed page/*.html
	pageFiles embed.FS
	//go:embed page/console.css
	consoleCSS string
	//go:embed page/console.js
	consoleJS string
	//go:embed page/icon.svg
	icon string
)

// asset is a file that pages load.
type asset struct {
	kind string
	data []byte
}

// assets are the files by name. Their names have a hash, so that browsers may keep them.
var assets = sync.OnceValues(func() (map[string]asset, map[string]string) {
	files, names := map[string]asset{}, map[string]string{}
	add := func(base, extension, kind, text string) {
		sum := sha256.Sum256([]byte(text))
		name := base + "-" + hex.EncodeToString(sum[:6]) + extension
		files[name], names[base+extension] = asset{kind, []byte(text)}, name
	}
	add("console", ".css", "text/css; charset=utf-8", page.CSS+consoleCSS)
	add("console", ".js", "text/javascript; charset=utf-8", consoleJS)
	add("icon", ".svg", "image/svg+xml", icon)
	return files, names
})

func serveAsset(w http.ResponseWriter, r *http.Request) {
	files, _ := assets()
	file, ok := files[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	_, _ = w.Write(file.data) // the client may have disconnected
}

// templates has one template per page, each with the layout.
var templates = sync.OnceValue(func() map[string]*template.Template {
	layout := template.Must(template.New("layout").Funcs(functions).Parse(page.BarTemplate))
	template.Must(layout.ParseFS(pageFiles, "page/layout.html", "page/parts.html"))
	pages := map[string]*template.Template{}
	for _, name := range []string{"overview", "failure", "refs", "tool", "rules", "servers", "verify", "session", "login", "problem"} {
		one := template.Must(layout.Clone())
		pages[name] = template.Must(one.ParseFS(pageFiles, "page/"+name+".html"))
	}
	return pages
})

var functions = template.FuncMap{
	"asset": func(name string) string {
		_, names := assets()
		return "/assets/" + names[name]
	},
	"stamp":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"day":      func(t time.Time) string { return t.UTC().Format("2006-01-02") },
	"clock":    func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"recent":   recentTime,
	"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
	"duration": durationWords,
	"number":   numberWords[uint64],
	"bytes":    bytesWords,
	"words":    func(s string) string { return strings.ReplaceAll(s, "_", " ") },
	"tool":     toolPath,
	"session":  sessionPath,
	"length":   durationLength,
	"newest":   newestChains,
	"choice":   func(name, value string, list []string) choiceView { return choiceView{name, value, list} },
	"side":     func(mark, title string, text *exchangeText) sideView { return sideView{mark, title, text} },
}

// recentTime returns the time of the day, and the day too if it is not today.
func recentTime(t time.Time) string {
	if day := t.UTC().Format(time.DateOnly); day != time.Now().UTC().Format(time.DateOnly) {
		return day + t.UTC().Format(" 15:04")
	}
	return t.UTC().Format(time.TimeOnly)
}

// choiceView is the data of a list to choose from.
type choiceView struct {
	Name, Value string
	List        []string
}

// sideView is the data of one side of a comparison.
type sideView struct {
	Mark, Title string
	Text        *exchangeText
}

// layoutView is the data of the layout.
type layoutView struct {
	Title   string
	Section string
	Dir     string
	Version string
	Record  recordState
	Reading *failures.Progress // the first read of the ledger, until it is done
	Skipped uint64             // lines of the ledger that are not entries
	Locked  bool               // the browser has not logged in, and sees nothing of the ledger
	Refresh bool               // the page changes by itself; without JavaScript it is loaded again
	Page    any
}

// refreshing is implemented by pages that change by themselves.
type refreshing interface{ refreshes() bool }

// render writes a page. Characters that are not printable are made visible in the whole page, wherever the text came from.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) {
	view := layoutView{
		Title: title, Section: name, Locked: !s.logins.has(r, s.o.Now()), Page: data,
	}
	if !view.Locked {
		view.Dir, view.Version, view.Record = s.o.Dir, s.o.Version, s.verifier.record()
		p := s.o.Failures.Progress()
		view.Skipped = p.Skipped
		if !p.Done || p.Err != nil {
			view.Reading = &p
		}
	}
	if page, ok := data.(refreshing); ok {
		view.Refresh = page.refreshes()
	}
	var out bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&out, "layout", view); err != nil {
		s.o.Log.Error("writing a page of the console failed", slog.String("page", name), slog.Any("error", err))
		http.Error(w, "the page could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(page.Block(out.String()))) // the client may have disconnected
}

// writeJSON writes a value of the API.
func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, `{"title":"The answer could not be written"}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // the client may have disconnected
}

// writeProblem answers a request that is refused or that failed.
func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, p *problem) {
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="candor"`)
	}
	if p.allow != "" {
		w.Header().Set("Allow", p.allow)
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Type", "application/problem+json")
		data, _ := json.Marshal(p) //nolint:errchkjson // strings and a number
		w.WriteHeader(p.Status)
		_, _ = w.Write(append(data, '\n')) // the client may have disconnected
		return
	}
	if p.Status == http.StatusUnauthorized {
		next := "/"
		if r.Method == http.MethodGet {
			next = localPath(r.URL.RequestURI())
		}
		s.render(w, r, p.Status, "login", "Log in", loginView{Next: next})
		return
	}
	s.render(w, r, p.Status, "problem", p.Title, p)
}

// writeError answers a request for which reading the ledger failed.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	known := (*problem)(nil)
	switch {
	case errors.As(err, &known):
	case errors.Is(err, failures.ErrNotFound):
		known = &problem{Status: http.StatusNotFound, Title: "No such failure", Detail: "The ledger has no such failure, or it was removed with the segment that it was in."}
	case r.Context().Err() != nil:
		return
	case errors.Is(err, failures.ErrCursor):
		known = &problem{Status: http.StatusBadRequest, Title: "Not a part of this list", Detail: "The cursor in the address is not valid. Open the list again without it."}
	default:
		s.o.Log.Warn("reading the ledger for the console failed", slog.Any("error", err))
		known = &problem{Status: http.StatusInternalServerError, Title: "The ledger could not be read", Detail: err.Error()}
	}
	s.writeProblem(w, r, known)
}

var noPage = &problem{Status: http.StatusNotFound, Title: "No such page", Detail: "The console has no page at this address. The list of failures is at /."}

// unknown says whether there is no such page, or only not with this method.
func (s *Server) unknown(r *http.Request) *problem {
	for method, allowed := range map[string]string{http.MethodGet: "GET, HEAD", http.MethodPost: "POST"} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "" {
			return methodProblem(allowed)
		}
	}
	return noPage
}

// durationWords returns a duration with three digits.
func durationWords(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	case d < 100*time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// numberWords returns a number with separators.
func numberWords[T ~int | ~int64 | ~uint64](n T) string {
	text := strconv.FormatUint(uint64(n), 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func bytesWords(n int64) string {
	switch {
	case n < 10_000:
		return numberWords(n) + " bytes"
	case n < 10_000_000:
		return numberWords(n/1000) + " kB"
	}
	return numberWords(n/1_000_000) + " MB"
}
