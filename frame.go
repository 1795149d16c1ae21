package candor

import (
	"path"
	"strings"
)

// A stack text is read into frames, whatever language wrote it, and written as one frame a line: "function (file:12)" or
// "function (file:12:5)", the innermost first. Files have no directories; headers, messages and the frames of the harness go. What
// was written so is read back as it is, so reading twice changes nothing.

// The places of frames that have no file.
const (
	placeNative    = "native"
	placeAnonymous = "<anonymous>"
	placeUnknown   = "unknown"
)

// cleanFrames returns the frames of a stack text. known is false if there is none to be seen in it, not even of the harness.
func cleanFrames(stack string) (frames []string, known bool) {
	lines := strings.Split(strings.ReplaceAll(stack, "\r\n", "\n"), "\n")
	python := 0 // where the run of Python's frames at the end begins; Python writes the innermost last
	for i := 0; i < len(lines); i++ {
		frame, found, lang := "", false, langOther
		if i+1 < len(lines) {
			frame, found = goFrame(lines[i], lines[i+1])
		}
		if found {
			i++
		} else {
			frame, lang, found = lineFrame(lines[i], i+1 == len(lines))
		}
		known = known || found
		if frame == "" {
			continue
		}
		if lang == langPython {
			frames = append(frames[:python], append([]string{frame}, frames[python:]...)...)
			continue
		}
		frames = append(frames, frame)
		python = len(frames)
	}
	return frames, known
}

type language uint8

const (
	langOther language = iota
	langPython
)

// lineFrame reads a frame of one line. A frame of the harness is found and is "".
func lineFrame(line string, last bool) (frame string, lang language, found bool) {
	text := strings.Trim(line, " \t")
	if frame, found = ownFrame(text); found {
		return frame, langOther, true
	}
	if rest, ok := strings.CutPrefix(text, `File "`); ok {
		frame, found = pythonFrame(rest)
		return frame, langPython, found
	}
	if rest, ok := strings.CutPrefix(text, "at "); ok {
		frame, found = atFrame(rest)
		return frame, langOther, found
	}
	if last && text == line && strings.HasSuffix(text, cutMark) && strings.Contains(text, " (") {
		return text, langOther, true
	}
	return "", langOther, false
}

// ownFrame knows what this package writes, also if something in it was redacted or somebody left the directories in it.
func ownFrame(text string) (frame string, found bool) {
	name, place, ok := strings.Cut(text, " (")
	place, closed := strings.CutSuffix(place, ")")
	if !ok || !closed || name == "" || strings.ContainsAny(name, " \t") || strings.HasSuffix(name, ":") || strings.ContainsAny(place, " \t") {
		return "", false
	}
	place = place[strings.LastIndexAny(place, `/\`)+1:]
	if place != placeNative && place != placeAnonymous && place != placeUnknown && !hasLine(place) && !strings.Contains(place, "[redacted:") {
		return "", false
	}
	return name + " (" + place + ")", true
}

// goFrame reads the two lines of a frame as runtime/debug prints it.
func goFrame(first, second string) (frame string, found bool) {
	at, ok := strings.CutPrefix(second, "\t")
	at, _, _ = strings.Cut(at, " ") // +0x1d
	open := strings.LastIndexByte(first, '(')
	if !ok || !hasLine(at) || first == "" || first[0] == ' ' || first[0] == '\t' {
		return "", false
	}
	if strings.HasPrefix(first, "created by ") { // no frame of this goroutine
		return "", true
	}
	if open < 1 || !strings.HasSuffix(first, ")") || strings.ContainsAny(first[:open], " \t") {
		return "", false
	}
	function := first[:open]
	if isHarness(function) || function == "panic" {
		return "", true
	}
	return written(path.Base(function), at), true
}

// atFrame reads what follows "at" in a frame of JavaScript, Java or .NET.
func atFrame(text string) (frame string, found bool) {
	name, place := "", text
	if head, file, ok := strings.Cut(text, " in "); ok && strings.Contains(file, ":line ") { // .NET
		name, _, _ = strings.Cut(head, "(")
		place = strings.Replace(file, ":line ", ":", 1)
	} else if inner, ok := strings.CutSuffix(text, ")"); ok {
		if name, place, ok = strings.Cut(inner, "("); !ok {
			return "", false
		}
	} else if strings.ContainsAny(text, " \t") && !strings.HasPrefix(text, "async ") && !strings.HasPrefix(text, "file:") || !hasLine(text) && text != placeAnonymous {
		return "", false
	}
	if _, last, ok := strings.Cut(place, "), "); ok { // eval at f (a.js:1:2), <anonymous>:1:1
		place = last
	}
	name = strings.Trim(name, " \t")
	if foreignHarness(name, place) {
		return "", true
	}
	for _, word := range [...]string{"async ", "new ", "get ", "set "} {
		name = strings.TrimPrefix(name, word)
		place = strings.TrimPrefix(place, word)
	}
	name, _, _ = strings.Cut(name, " [as ")
	if name == "" {
		name = placeAnonymous
	}
	return written(name[strings.LastIndexByte(name, '/')+1:], place), true // Java puts the module and a slash in front
}

// pythonFrame reads what follows the quote in: File "x.py", line 3, in f.
func pythonFrame(text string) (frame string, found bool) {
	file, rest, ok := strings.Cut(text, `", line `)
	if !ok {
		return "", false
	}
	line, name, ok := strings.Cut(rest, ", in ")
	if !ok {
		name = "<module>"
	}
	if foreignHarness("", file) {
		return "", true
	}
	return written(name, file+":"+line), true
}

// written is the form of a frame. Neither part has blanks or directories.
func written(name, place string) string {
	switch place = place[strings.LastIndexAny(place, `/\`)+1:]; {
	case strings.HasPrefix(place, "Native Method"):
		place = placeNative
	case !hasLine(place) && place != placeNative && place != placeAnonymous:
		place = placeUnknown
	}
	if name = strings.TrimRight(blanks.Replace(name), ":"); name == "" {
		name = placeAnonymous
	}
	return name + " (" + blanks.Replace(place) + ")"
}

var blanks = strings.NewReplacer(" ", "_", "\t", "_")

// hasLine reports whether a place ends in ":12".
func hasLine(place string) bool {
	digits := strings.TrimRight(place, "0123456789")
	return len(digits) > 1 && len(digits) < len(place) && digits[len(digits)-1] == ':'
}

// foreignHarness tells the frames that say nothing about the failure in the other languages.
func foreignHarness(name, place string) bool {
	place = strings.ReplaceAll(place, `\`, "/")
	for _, part := range [...]string{
		"node:internal/", "node_modules/@modelcontextprotocol/", "/asyncio/", "site-packages/mcp/", "site-packages/anyio/", "<frozen ",
	} {
		if strings.Contains(place, part) {
			return true
		}
	}
	for _, part := range [...]string{"java.lang.reflect.", "jdk.internal.", "sun.reflect.", "io.modelcontextprotocol."} {
		if strings.HasPrefix(name[strings.LastIndexByte(name, '/')+1:], part) {
			return true
		}
	}
	return strings.HasPrefix(place, "internal/")
}
