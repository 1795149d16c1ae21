package foreign

import "strings"

// Many validators and decoders put the path of a failure between fixed words: (Parameter 'units'), @ data['host'], Path: $.days |.
// Such text can be read exactly.

// mark is such a pair of words. The path ends at the first of ends, or with the text if none occurs.
type mark struct {
	before string
	ends   []string
	rule   string
	steps  func(place string) []string
	unless string // skip this mark if the text contains this one
}

// marks are tried one after the other on the whole text.
var marks = []mark{
	{before: "At path: ", ends: []string{" -- ", ")", "\n"}, steps: stepsOf},            // superstruct
	{before: "@ data[", ends: []string{"] ", "]\n", "],"}, steps: bracketSteps},         // voluptuous
	{before: "Path: $.", ends: []string{" |", "\n"}, steps: stepsOf},                    // System.Text.Json
	{before: "Path '", ends: []string{"', line"}, steps: stepsOf},                       // Newtonsoft
	{before: "(Parameter '", ends: []string{"')"}, steps: stepsOf},                      // .NET
	{before: "Parameter name: ", ends: []string{"\n", ".", " "}, steps: stepsOf},        // .NET Framework
	{before: "through reference chain: ", ends: []string{")", "\n"}, steps: chainSteps}, // Jackson
	{before: "Key: '", ends: []string{"' Error:Field validation"}, steps: modelSteps},   // go-playground
	{before: "Field validation for '", ends: []string{"' failed on"}, steps: stepsOf, unless: "Key: '"},
	{before: "did not contain a required property of '", ends: []string{"'"}, rule: "required", steps: stepsOf},
	{before: "The property '#/", ends: []string{"'"}, steps: slashSteps}, // Ruby's json-schema
	{before: "supplied to : ", ends: []string{"\n"}, steps: codecSteps},  // io-ts
	{before: "supplied to /", ends: []string{"\n"}, steps: codecSteps},
	{before: " at path: $.", ends: []string{"\n", " ", ","}, steps: stepsOf}, // kotlinx
	{before: " at path $.", ends: []string{"\n", " ", ","}, steps: stepsOf},  // Moshi
	{before: " path $.", ends: []string{"\n", " ", ","}, steps: stepsOf},     // Gson
	{before: " at `$.", ends: []string{"`"}, steps: stepsOf},                 // msgspec
	{before: " ($", ends: []string{") must", ") is", ") cannot"}, steps: stepsOf},
	{before: "required :", ends: []string{" option"}, rule: "required", steps: stepsOf}, // NimbleOptions
	{before: "invalid value for :", ends: []string{" option"}, steps: stepsOf},
	{before: "Invalid key: Expected \"", ends: []string{"\""}, rule: "required", steps: stepsOf}, // valibot
	{before: "following arguments are required: ", ends: []string{", ", "\n"}, rule: "required", steps: flagSteps},
	{before: "missing keyword: :", ends: []string{",", "\n"}, rule: "required", steps: stepsOf}, // Ruby
	{before: "missing keywords: :", ends: []string{",", "\n"}, rule: "required", steps: stepsOf},
	{before: "unknown keyword: :", ends: []string{",", "\n"}, rule: "additionalProperties", steps: stepsOf},
	{before: "Variable \"$", ends: []string{"\""}, steps: stepsOf},                                                         // GraphQL
	{before: "required arguments were not provided:\n  --", ends: []string{" ", "\n"}, rule: "required", steps: flagSteps}, // clap
	{before: "Missing option '--", ends: []string{"'", " "}, rule: "required", steps: flagSteps},                           // click
	{before: "nvalid value for '--", ends: []string{"'", " "}, steps: flagSteps},
	{before: "argument --", ends: []string{": "}, steps: flagSteps}, // argparse
}

// marked reads every mark.
func (r *reader) marked(s string) bool {
	found := r.swift(s)
	found = r.effect(s) || found
	found = r.notValidating(s) || found
	for _, m := range marks {
		if m.unless != "" && strings.Contains(s, m.unless) {
			continue
		}
		for from := 0; len(r.said.Issues) < MaxIssues; {
			i := strings.Index(s[from:], m.before)
			if i < 0 {
				break
			}
			from += i + len(m.before)
			found = r.markedAt(s, from, m) || found
		}
	}
	return found
}

func (r *reader) markedAt(s string, at int, m mark) bool {
	place := clip(s[at:], maxPath)
	end := len(place)
	for _, e := range m.ends {
		if n := strings.Index(place, e); n >= 0 && n < end {
			end = n
		}
	}
	if end == len(s[at:]) && len(m.ends) == 1 && m.ends[0] != "\n" { // the only end is missing
		return false
	}
	steps := m.steps(strings.TrimRight(place[:end], ". "))
	if !plainSteps(steps) || len(steps) == 1 && wholes[steps[0]] && !r.args.has(steps[0]) {
		return false
	}
	r.place(steps, m.rule, markedLine(s, at))
	return true
}

// markedLine returns the whole line of a mark, because marks follow the sentence. Jackson's mark is on the line below it.
func markedLine(s string, at int) string {
	begin := strings.LastIndexByte(s[:at], '\n') + 1
	if strings.HasPrefix(strings.TrimLeft(s[begin:], " "), "at [") {
		begin = strings.LastIndexByte(s[:max(begin-1, 0)], '\n') + 1
	}
	line, _, _ := strings.Cut(s[begin:], "\n")
	return clip(line, maxIssueText)
}

// wholes are names for the arguments as a whole, which a framework may name instead of one argument.
var wholes = set("arguments", "args", "params", "parameters", "kwargs", "request", "value", "obj", "s")

// place adds an issue for a path that a validator marked.
func (r *reader) place(steps []string, rule, message string) {
	steps = r.rooted(steps)
	if key, ok := r.args.spelling(steps[0]); ok {
		steps[0] = key
	}
	is := judged(message)
	is.Path = pointer(steps)
	if rule != "" {
		is.Rule = rule
	}
	r.issue(is)
}

// plainSteps reports whether every step of a path is a name or an index.
func plainSteps(steps []string) bool {
	for _, step := range steps {
		if !isPath(step) && !isIndex(step) {
			return false
		}
	}
	return len(steps) > 0 && len(steps) <= 16
}

// bracketSteps reads 'host']['port, the text between the outer brackets.
func bracketSteps(place string) []string { return dottedSteps("[" + place + "]") }

// chainSteps reads com.x.Args["bags"]->java.util.ArrayList[0]->Item["name"].
func chainSteps(place string) []string {
	var out []string
	for link := range strings.SplitSeq(place, "->") {
		if _, inside, ok := strings.Cut(link, "["); ok {
			out = append(out, strings.Trim(inside, "]\""))
		}
	}
	return out
}

// modelSteps drops the name of the struct.
func modelSteps(place string) []string {
	steps := stepsOf(place)
	if len(steps) > 1 {
		steps = steps[1:]
	}
	return steps
}

func slashSteps(place string) []string { return pointerSteps("/" + place) }

func flagSteps(place string) []string {
	_, name, _ := cutLast("/"+place, "/") // -n/--name
	return compact([]string{strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")})
}

// codecSteps reads Ride/seats: number and { seats: number }/seats: number.
func codecSteps(place string) []string {
	var out []string
	if i := strings.LastIndex(place, "}/"); i >= 0 {
		place = place[i+1:]
	} else if _, rest, ok := strings.Cut(place, "/"); ok {
		place = rest
	}
	for link := range strings.SplitSeq(strings.TrimPrefix(place, "/"), "/") {
		name, _, _ := strings.Cut(link, ":")
		out = append(out, strings.TrimSpace(name))
	}
	for len(out) > 1 && isIndex(out[0]) { // the branch of an intersection
		out = out[1:]
	}
	return compact(out)
}

// swift reads the keys of a DecodingError. The missing key precedes its coding path.
func (r *reader) swift(s string) bool {
	if !strings.Contains(s, "CodingKeys(stringValue: \"") && !strings.Contains(s, "codingPath: [") {
		return false
	}
	before, path, _ := strings.Cut(s, "codingPath: [")
	path, _, _ = strings.Cut(path, "], ")
	steps := append(codingKeys(path), codingKeys(before)...)
	if !plainSteps(steps) {
		return false
	}
	rule := ""
	if strings.Contains(s, "keyNotFound") {
		rule = "required"
	}
	r.place(steps, rule, clip(s, maxIssueText))
	return true
}

func codingKeys(s string) []string {
	var out []string
	for _, part := range strings.Split(s, "(stringValue: \"")[1:] {
		name, _, _ := strings.Cut(part, "\"")
		out = append(out, name)
	}
	return out
}

// notValidating reads santhosh-tekuri's older text: '/size' does not validate with schema#/…: must be >= 0.
func (r *reader) notValidating(s string) bool {
	const words = "' does not validate with "
	found := false
	for line := range strings.Lines(s) {
		head, rest, ok := strings.Cut(line, words)
		_, place, quoted := cutLast(head, "'")
		_, message, _ := strings.Cut(rest, ": ")
		if !ok || !quoted || message == "" {
			continue
		}
		found = true
		steps := stepsOf(place)
		if _, list, is := strings.Cut(message, "missing properties: "); is {
			r.namesIn(list, steps, "required", strings.TrimSpace(message))
		} else if _, list, is := strings.Cut(message, "additionalProperties "); is {
			list, _, _ = strings.Cut(list, " not allowed")
			r.namesIn(list, steps, "additionalProperties", strings.TrimSpace(message))
		} else if plainSteps(steps) {
			r.place(steps, "", strings.TrimSpace(message))
		}
	}
	return found
}
