package contract

import (
	"slices"
	"sort"
)

// Tables returns every table of words and phrases that the rules use, as spec/phrases.json has them.
func Tables() map[string]any {
	phrases := map[string][]string{
		"opening": opening.lines(), "predicates": predicates.lines(), "ownVoice": ownVoice.lines(), "empty": empty.lines(), "done": done.lines(),
		"denials": denials.lines(), "strong": strong.lines(), "mending": mending.lines(), "elsewhere": elsewhere.lines(),
		"missingOnly": missingOnly.lines(), "unknownTool": unknownTool.lines(), "unknownMethod": unknownMethod.lines(), "notThere": notThere.lines(), "tooEarly": tooEarly.lines(),
		"badCursor": badCursor.lines(), "judgement": judgement.lines(), "hindered": hindered.lines(), "states": states.lines(),
		"starting": starting.lines(), "dialling": dialling.lines(), "unreadable": unreadable.lines(), "brokenJSON": brokenJSON.lines(), "argumentWords": argumentWords.lines(),
		"labels": labels.lines(), "callWords": callWords.lines(), "badStatusLine": badStatusLine.lines(), "answerLabels": answerLabels.lines(), "errorTitles": errorTitles.lines(),
		"calling": calling.lines(), "severities": severities.lines(), "codePlaces": codePlaces.lines(),
		"advice": advice.lines(), "before": before.lines(),
	}
	words := map[string][]string{
		"reading": sorted(readingWords), "record": sorted(recordWords), "judging": sorted(judgingWords), "search": sorted(searchWords),
		"running": sorted(runningWords), "badStatus": sorted(badStatus), "subjects": sorted(subjects), "kept": sorted(kept), "state": sorted(stateWords), "changing": sorted(changingWords), "report": sorted(reportWords),
		"credential": sorted(credentialWords), "program": sorted(programWords),
		"fileKeys": fileKeys, "pageKeys": pageKeys, "shellKeys": shellKeys, "codeKeys": codeKeys, "execKeys": execKeys,
		"foreignOpenings": texts(foreignOpenings), "foreignPredicates": texts(foreignPredicates),
	}
	codes := map[string]any{"errno": symbols(errnos), "exception": symbols(exceptions)}
	statusCodes := map[int]string{}
	for n, c := range statuses {
		statusCodes[n] = c.String()
	}
	codes["status"] = statusCodes
	codes["meanings"], codes["symbols"] = rows(meanings), rows(symbolMeanings[:len(symbolMeanings)-len(meanings)])
	return map[string]any{"about": aboutTables, "phrases": phrases, "words": words, "members": memberNames(), "codes": codes}
}

const aboutTables = "The words and phrases of spec/contract.md 7 and 8. A phrase is words with spaces between them, matched on whole words " +
	"without regard to case; a|b is a choice, a trailing ? makes a word optional, a trailing : asks for : - ( [ or ! behind the word, a trailing . for the end of the line, … stands for up to six " +
	"words, *x for any word that ends in x, !a|b for any word but a and b. Words of scripts without spaces are looked for as parts. Meanings are tried from top to bottom. Symbols of other systems are cut into " +
	"words at capitals, hyphens and underscores first, tried against symbols, then against meanings."

func sorted(set map[string]bool) []string {
	var out []string
	for w := range set {
		out = append(out, w)
	}
	sort.Strings(out)
	return out
}

func texts(list [][]byte) []string {
	var out []string
	for _, t := range list {
		out = append(out, string(t))
	}
	return out
}

func symbols[T interface{ String() string }](m map[string]T) map[string]string {
	out := make(map[string]string)
	for k, c := range m {
		out[k] = c.String()
	}
	return out
}

type row struct {
	Code    string   `json:"code"`
	Phrases []string `json:"phrases"`
}

// lines returns the phrases as they are written.
func (b *phrasebook) lines() []string {
	var out []string
	for _, list := range b.lists {
		out = slices.AppendSeq(out, list.phrases())
	}
	return out
}

func rows(table []meaning) []row {
	var out []row
	for _, m := range table {
		out = append(out, row{m.code.String(), m.book.lines()})
	}
	return out
}

func memberNames() map[string][]string {
	names := map[mark]string{
		markSuccess: "success", markFailure: "failure", markExit: "exit", markJudged: "judged", markFault: "fault", markFaults: "faults",
		markDetail: "detail", markData: "data", markResult: "result", markMessage: "message", markProse: "prose", markStatus: "status",
		markNumber: "number", markKind: "kind", markMeta: "meta", markHarmless: "harmless",
	}
	out := make(map[string][]string)
	for word, m := range marks {
		out[names[m]] = append(out[names[m]], word)
	}
	for _, words := range out {
		sort.Strings(words)
	}
	return out
}

// Rules lists the ids of all rules.
var Rules = allRules
