package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/probe"
)

const (
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sarifVersion = "2.1.0"
	// sarifPrint is the name and version of the fingerprint. Change the version when the fingerprint changes.
	sarifPrint = "candorFindingKey/v1"
)

// object is a JSON object. A test validates the output against the SARIF schema, so it needs no types.
type object = map[string]any

// writeSARIF writes one run. The logical location of a result is a tool, and its physical location is [Options.Source]. Its fingerprint is
// that of [probe.Finding.Key].
func writeSARIF(w io.Writer, r *probe.Report, o Options) error {
	rules, index := sarifRules(r)
	results := []object{}
	for _, f := range probe.Sorted(r.Findings) {
		results = append(results, sarifResult(r, &f, index[f.Rule], o.Source))
	}
	run := object{
		"tool": object{"driver": object{
			"name": "candor probe", "informationUri": "https://github.com/candor-mcp/candor", "rules": rules,
		}},
		"columnKind": "unicodeCodePoints",
		"results":    results,
		"invocations": []object{{
			"executionSuccessful": r.Incomplete == "", "startTimeUtc": r.Begun.UTC().Format("2006-01-02T15:04:05Z"),
			"toolExecutionNotifications": sarifNotes(r),
		}},
		"automationDetails": object{"id": "candor-probe/" + plain(r.Server.Name) + "/"},
		"properties": object{
			"grade": gradeOf(r.Grade), "server": plain(r.Server.Name), "serverVersion": plain(r.Server.Version), "transport": plain(r.Server.Transport),
			"protocol": plain(r.Server.Protocol), "rules": plain(r.Rules), "seed": r.Seed, "cases": r.Cases, "failures": r.Failures, "masked": r.Masked,
		},
	}
	return encode(w, object{"$schema": sarifSchema, "version": sarifVersion, "runs": []object{run}})
}

// sarifRules returns the applied rules, and those that only a finding names.
func sarifRules(r *probe.Report) (rules []object, index map[string]int) {
	rules, index = []object{}, map[string]int{}
	add := func(rule *probe.Rule) {
		if _, found := index[rule.ID]; !found {
			index[rule.ID] = len(rules)
			rules = append(rules, sarifRule(rule))
		}
	}
	for i := range r.Applied {
		add(&r.Applied[i])
	}
	for _, f := range probe.Sorted(r.Findings) {
		add(&probe.Rule{ID: f.Rule, Title: f.Rule, Reason: f.Message, Fix: f.Fix, Severity: f.Severity})
	}
	return rules, index
}

func sarifRule(rule *probe.Rule) object {
	help := fmt.Sprintf("%s Fix: %s", plain(rule.Reason), plain(rule.Fix))
	markdown := fmt.Sprintf("%s\n\n**Fix:** %s", mdText(rule.Reason), mdText(rule.Fix))
	if rule.Clause != "" {
		help += " See: " + plain(rule.Clause) + "."
		markdown += "\n\nSee: " + mdText(rule.Clause)
	}
	tags := []string{"mcp", "errors"}
	for _, set := range rule.Sets {
		if tag := plain(set); !slices.Contains(tags, tag) { // the schema requires them to be unique
			tags = append(tags, tag)
		}
	}
	return object{
		"id": plain(rule.ID), "name": sarifName(rule.Title), "shortDescription": message(rule.Title), "fullDescription": message(rule.Reason),
		"help": object{"text": unlinked(help), "markdown": markdown}, "defaultConfiguration": object{"level": level(rule.Severity)},
		"properties": object{"tags": tags, "severity": plain(string(rule.Severity)), "outside": rule.Outside, "problem.severity": cmp.Or(problemLevels[rule.Severity], "recommendation")},
	}
}

func sarifResult(r *probe.Report, f *probe.Finding, rule int, source Source) object {
	evidence := []object{}
	for _, e := range f.Evidence {
		evidence = append(evidence, object{"case": plain(e.Case), "request": block(e.Request), "response": block(e.Response)})
	}
	properties := object{
		"severity": plain(string(f.Severity)), "tool": plain(f.Tool), "field": plain(f.Field), "fix": plain(f.Fix), "outside": f.Outside, "evidence": evidence,
	}
	if len(f.Tools) > 0 {
		properties["tools"] = plainAll(f.Tools)
	}
	location := object{"logicalLocations": sarifPlaces(r, f)}
	if source.Path != "" {
		location["physicalLocation"] = sarifFile(source, f)
	}
	return object{
		"ruleId": plain(f.Rule), "ruleIndex": rule, "level": level(f.Severity), "kind": "fail",
		"message":             message(f.Message + " Fix: " + f.Fix),
		"locations":           []object{location},
		"partialFingerprints": object{sarifPrint: fingerprint(f)},
		"occurrenceCount":     max(f.Count, 1),
		"properties":          properties,
	}
}

// sarifFile returns the line of the tool in the file, as an empty region at its start: code scanning requires a line.
func sarifFile(source Source, f *probe.Finding) object {
	tool := f.Tool
	if len(f.Tools) > 0 {
		tool = f.Tools[0]
	}
	line := max(source.Lines[tool], 1)
	file := &url.URL{Path: source.Path}
	return object{
		"artifactLocation": object{"uri": file.String(), "uriBaseId": "%SRCROOT%"},
		"region":           object{"startLine": line, "startColumn": 1, "endLine": line, "endColumn": 1},
	}
}

// sarifPlaces returns the tools or the server, and the argument if there is one.
func sarifPlaces(r *probe.Report, f *probe.Finding) []object {
	server := plain(r.Server.Name)
	if len(f.Tools) > 0 {
		var out []object
		for _, name := range plainAll(f.Tools) {
			out = append(out, object{"name": name, "fullyQualifiedName": server + "/" + name, "kind": "function"})
		}
		return out
	}
	if f.Tool == "" {
		return []object{{"name": server, "fullyQualifiedName": server, "kind": "module"}}
	}
	name := plain(f.Tool)
	out := []object{{"name": name, "fullyQualifiedName": server + "/" + name, "kind": "function"}}
	if f.Field != "" {
		out = append(out, object{"name": plain(f.Field), "fullyQualifiedName": server + "/" + name + plain(f.Field), "kind": "parameter"})
	}
	return out
}

func plainAll(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = plain(name)
	}
	return out
}

func sarifNotes(r *probe.Report) []object {
	out := []object{}
	if r.Incomplete != "" {
		out = append(out, object{"level": "error", "message": message("The run is incomplete: " + r.Incomplete)})
	}
	if said := coverageText(r); said != "" {
		out = append(out, object{"level": "note", "message": message(said)})
	}
	for _, s := range r.Skipped {
		out = append(out, object{"level": "note", "message": message("Not done: " + skipText(s))})
	}
	return out
}

// fingerprint returns a hash of the key of a finding.
func fingerprint(f *probe.Finding) string {
	sum := sha256.Sum256([]byte(f.Key()))
	return hex.EncodeToString(sum[:16])
}

func message(s string) object { return object{"text": unlinked(plain(orDash(s)))} }

// unlinked escapes brackets, which the standard reads as links even in plain text (3.11.6).
func unlinked(s string) string {
	if !strings.Contains(s, "](") {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(s)
}

// sarifLevels are the severities in the words of the standard, and problemLevels in those of GitHub.
var (
	sarifLevels   = map[probe.Severity]string{probe.SeverityCritical: "error", probe.SeverityMajor: "warning", probe.SeverityMinor: "note", probe.SeverityInfo: "note"}
	problemLevels = map[probe.Severity]string{probe.SeverityCritical: "error", probe.SeverityMajor: "warning"}
)

func level(s probe.Severity) string { return cmp.Or(sarifLevels[s], "none") }

// sarifName returns a title as one word, as the standard recommends for rule names.
func sarifName(title string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		runes := []rune(word)
		b.WriteString(string(unicode.ToUpper(runes[0])) + string(runes[1:]))
	}
	if b.Len() == 0 {
		return "Unnamed"
	}
	return b.String()
}
