package foreign

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/candor-mcp/candor/wire"
)

// sentences are the phrases with which servers name a failing argument in prose. The first phrase that matches at a token wins, so
// the more specific ones come first.
var sentences = []string{
	// Something is missing.
	"required: required|mandatory request|query|path|body|header|url|form|input|tool KIND :? NAMES! for|is|are|was|not|missing",
	"required: missing required|mandatory? request|query|path|body|header|url|form|tool KIND :? NAMES!",
	"required: KIND QUOTED of required type",
	"required: provide|specify|enter|supply|set|pass a|an|the? valid? value|values for the? KIND? NAMES! $",
	"required: missing|absent|omitted required|mandatory? KIND for|in|to ANY *: NAMES!",
	"required: missing|absent|omitted or? invalid|empty? required|mandatory? KIND :? NAMES!",
	"required: missing|absent required|mandatory KIND *: NAMES!",
	"required: missing or invalid NAMES! KIND?",
	"required: missing required|mandatory :? NAMES",
	"required: missing a|an|the? value for :? the? required? KIND? NAMES!",
	"required: missing ANY required positional|keyword-only argument|arguments : NAMES!",
	"required: missing NAMES! KIND",
	"required: missing : NAMES!",
	"required: missing IDENTS",
	"required: required|mandatory KIND :? NAMES! not|is|are|was|were|missing|cannot|must|has",
	"required: required|mandatory KIND is|are|was|were? missing|absent|not|undefined *: NAMES!",
	"required: requires KIND :? NAMES!",
	"required: requires either? IDENTS",
	"required: requires property|parameter|argument NAMES!",
	"required: KIND :? NAMES! is|are|was|were? required|missing|mandatory|undefined|absent|empty|blank|null",
	"required: KIND :? NAMES! must|should be? provided|specified|set|given|present|supplied|not",
	"required: KIND :? NAMES! not provided|specified|found|set|given|supplied|present",
	"anyOf: one|either ANY? KIND ( NAMES! ) is|are|must",
	"required: KIND ( NAMES! ) is|are|must|missing",
	"required: NAMES! KIND is|are|was|were? a? required|missing|mandatory|undefined|absent|empty|blank|null",
	"anyOf: either NAMES! is|are|must|should be? required|provided|specified|set|given|present",
	"anyOf: one of NAMES! is|are|must|should be? required|provided|specified|set|given|present",
	"anyOf: provide|specify|pass|supply exactly|at? one|least one? of :? the? following? :? IDENTS",
	"required: both NAMES! are|must|is be? required|provided|specified|set|given",
	"required: NAMES are|is|was|were both|also|always|a? required|mandatory|missing|undefined|compulsory",
	"required: NAMES is|are a|an required|mandatory KIND",
	"required: NAMES! array|list|string|number|object|value is|are required|mandatory",
	"required: NAMES must|should|has|have to? be provided|specified|set|given|present|supplied|defined",
	"required: NAMES cannot|can't|can|must|should|may not? be empty|null|blank|undefined|missing|nil|none|omitted",
	"required: NAMES can be not? empty|blank|null",
	"required: NAMES is|are|was|were empty|null|blank|undefined|nil",
	"required: NAMES required $",
	"required: ^ NAME : missing|is? required|mandatory",
	"required: param is missing or the value is empty : NAMES!",
	"required: no IDENT provided|specified|given|supplied|found",
	"required: IDENT not provided|specified|given|supplied",
	"required: empty IDENT",
	"required: empty NAME! $",
	"required: must|should|to|please|need provide|specify|pass|supply|include|set a|an|the|valid|either|both? valid|values|value? for? IDENTS",
	"required: ^ provide|specify|pass|supply a|an|the|valid|either|both? valid? IDENTS",
	"required: please provide a|an|the? valid|required? NAME KIND",
	// Something is there that should not be.
	"additionalProperties: unknown|unrecognized|unexpected|unsupported|invalid KIND in|for input|inputs|request|body|object|payload|arguments|args|params|call : NAMES!",
	"additionalProperties: unknown|unrecognized|unrecognised|unexpected|additional|extra|unsupported|unpermitted|disallowed|superfluous keyword? KIND for ANY : NAMES!",
	"additionalProperties: unknown|unrecognized|unrecognised|unexpected|additional|extra|unsupported|unpermitted|disallowed|superfluous keyword? KIND in? object? :? NAMES!",
	"additionalProperties: KIND :? NAMES! is|are not allowed|permitted|recognized|expected|known|supported",
	"additionalProperties: KIND :? NAMES! is|are unknown|unexpected|unrecognized",
	"additionalProperties: additional properties are? not allowed NAMES! was|were? unexpected?",
	"additionalProperties: NAMES! was|were unexpected",
	"additionalProperties: property NAMES! should|must not exist|be",
	"oneOf: can't|cannot|not|don't use|specify|provide|combine|pass|set|supply|have|give both? NAMES! $",
	"oneOf: can't|cannot|not|don't use|specify|provide|combine|pass|set|supply|have|give both NAMES!",
	"oneOf: only|exactly one of :? NAMES! may|can|must|should|is",
	"oneOf: KIND? NAMES! are mutually exclusive|incompatible",
	"oneOf: IDENTS conflict|conflicts with IDENT",
	"oneOf: IDENT cannot|can't|must be used|combined|set|specified together? with KIND? IDENT",
	// Something has the wrong type or value.
	"type: invalid type|length|range for parameter NAME! , value|valid",
	"type: could|can|unable|failed|cannot|can't not|to? parse|convert|decode|interpret|coerce|cast|deserialize value|the? for|of? KIND? IDENT! ANY? as|to|into|from|:",
	"type: for|of|in|on|at request|query|path|body|header|url|form|input|tool|method|the? parameter|argument|param|arg :? NAME! $",
	"type: for|of|in|on|at request|query|path|body|header|url|form|input|tool|method|the? parameter|argument|param|arg|field|property :? QUOTED",
	": QUOTED length|with|contains|fails|failed|contained must|value|an|a|to|is",
	"type: parameter NAMES! = ANY violates",
	"type: expected ANY values|value for NAMES!",
	"type: KIND :? NAMES! is|are|was not an|a|of ANY",
	"type: KIND :? NAMES! must|should be|have|contain|match|start",
	"type: KIND :? NAMES! expected|expects|has|requires|exceeds|cannot|contains",
	"type: NAMES! KIND must|should|has|cannot|expects|needs be|to|have|contain|match?",
	"type: invalid ANY? arguments|values *: expected ANY values|value? for NAMES!",
	"type: invalid NAMES! KIND",
	"type: invalid|incorrect|bad|wrong|malformed type|value|format|input for|of the? KIND? :? NAMES!",
	"type: invalid|incorrect|bad|wrong|illegal|malformed KIND :? NAMES! must|should|is|contains|expected|cannot|:|value",
	"type: invalid|incorrect|bad|wrong|illegal|malformed KIND :? IDENTS",
	": invalid|incorrect|bad|wrong|malformed|unsupported|unknown IDENT",
	"maximum: NAME value|of ANY exceeds|is",
	"maximum: IDENT exceeds|out|too",
	"maximum: NAME is|must out|exceeds of|maximum? range?",
	"maximum: NAME must not exceed",
	"type: NAMES must|should|needs|has to? be a|an|one|at|between|greater|less|positive|non-negative|nonnegative|non-empty|valid|integer|string|number|boolean|array|object|in|true|false|either|of|within|numeric|unique|equal|non-zero",
	"type: IDENTS must|should|cannot|can't not? be|have|contain|match|only|start|end|exceed|include|equal|use|point",
	"type: IDENTS may not|only be|have|contain|match|start|end|exceed|include|equal|use|point",
	"pattern: IDENT contains|has invalid|illegal|forbidden|unsupported",
	"pattern: IDENT does not match",
	"additionalProperties: IDENT is not allowed $",
	"type: IDENT is not a|an|of|valid|one",
	"type: IDENT expected|expects",
	"format: IDENT : ANY is not",
	"required: invalid request : missing required NAMES!",
	// Other languages.
	"required: 缺少 :? NAMES!", "required: 缺少 ：? NAMES!", "required: 请提供|必须提供|需要提供|请输入 NAMES!",
	"required: NAMES! 和|或? 不能为空|不可为空|必填|必需|必须传|是必须|为必填|未提供|缺失|必须提供|为空|必须指定|至少传入",
	"required: 参数|字段 :? NAMES! 不能为空|必填|缺失|是必需|未提供|为空|必须",
	"type: 无效的|非法的|错误的|参数错误|参数无效 ：? :? IDENTS", "type: 参数|字段 NAMES! 无效|错误|必须|不合法|类型", "type: NAMES! 必须是|必须为|格式|类型错误|应为|无效|不合法",
	"required: NAMES! は必須|が必要|が指定|を指定|は必ず|が不足|がありません", "required: 必須 :? NAMES!", "type: NAMES! は|が 無効|不正|である必要|でなければ",
	"required: NAMES! 가|이|은|는|을|를? 필수|필요|누락|없", "required: 필수 :? NAMES!",
	"required: KIND NAMES! fehlt|fehlen|ist|muss|wird erforderlich|angegeben|benötigt|leer|sein?", "required: NAMES! ist|sind erforderlich|notwendig|pflicht", "required: fehlender|fehlende|fehlendes|pflichtfeld KIND? :? NAMES!",
	"type: ungültiger|ungültige|ungültiges KIND :? NAMES!",
	"required: falta|faltan el|los? KIND? requerido|obligatorio? :? NAMES!", "required: KIND NAMES! es|é|est|è requerido|obligatorio|obrigatório|requis|obligatoire|obbligatorio|necesario|necessário|manquant", "required: KIND requerido|obligatorio|obrigatório|requis|manquant :? NAMES!",
	"required: NAMES! es|é|est|è requerido|obligatorio|obrigatório|requis|obligatoire|obbligatorio", "type: KIND inválido|invalide|non ANY? :? NAMES!",
	"required: параметр|поле NAMES! обязателен|обязательно|отсутствует|не", "required: отсутствует|обязательный параметр|поле :? NAMES!", "required: KIND NAMES! manquant|faltante|ausente|mancante",
	// Sentences of any language about a named parameter. The phrases above are more specific.
	": FOREIGN :|：? NAMES! debe|deben|deve|devem|devono|doit|doivent|muss|müssen|darf|dürfen|должен|должна|должно|должны|musi|moet|non|no|não|ne|n|nicht|не|est|es|è|é|ist|jest|is|está|fehlt|falta|manque|manca|отсутствует|обязателен|обязательно|имеет|contiene|contient|contém|enthält|содержит|превышает|supera|dépasse|excede|tiene|tem|hat|requerido|obligatorio|obrigatório|inválido|invalide|ungültig|invalido|zorunludur|gerekli",
	": FOREIGN :|：? QUOTED",
	": PARAM :? QUOTED",
	": FOREIGN :|：? IDENTS",
}

// grammar holds the compiled sentences.
type grammar struct {
	phrases  []phrase
	firsts   map[string][]int // phrases by their first word; most tokens begin no phrase
	wilds    []int            // phrases that can begin with other tokens
	demanded *demands
}

// compiledSentences compiles the sentences on first use.
var compiledSentences = sync.OnceValue(func() *grammar {
	g := &grammar{phrases: phrasesOf(sentences...)}
	g.firsts, g.wilds = indexPhrases(g.phrases)
	g.demanded = demandsOf(g.phrases)
	return g
})

func indexPhrases(all []phrase) (byWord map[string][]int, wild []int) {
	byWord = make(map[string][]int)
	for n, p := range all {
		first := p.items[0]
		if first.op == opHead {
			first = p.items[1]
		}
		if first.op != opWord || first.words[0][0] >= 0x80 {
			wild = append(wild, n)
			continue
		}
		for _, w := range first.words {
			byWord[w] = append(byWord[w], n)
		}
	}
	return byWord, wild
}

// fields reads the arguments that a text names as faulty.
func (r *reader) fields(s string) {
	toks, g := r.tokens(s), compiledSentences()
	met := g.demanded.metBy(toks)
	var space [32]int
	open := g.within(space[:0], g.wilds, &met)
	for i := range toks {
		if isCallee(toks, i) {
			continue
		}
		var own [32]int
		if !r.phraseAt(s, toks, i, g, g.within(own[:0], g.firsts[toks[i].low], &met)) {
			r.phraseAt(s, toks, i, g, open)
		}
	}
	r.runtime(s, toks)
	r.values(s, toks)
	if len(r.said.Issues) == 0 {
		r.alternatives(s, toks)
	}
}

// within appends the phrases whose demands are met.
func (g *grammar) within(out, which []int, met *demandSet) []int {
	for _, n := range which {
		if g.phrases[n].needs.within(met) {
			out = append(out, n)
		}
	}
	return out
}

// phraseAt tries the listed phrases at token i and applies the first that matches. It reports whether one did.
func (r *reader) phraseAt(s string, toks []token, i int, g *grammar, which []int) bool {
	for _, n := range which {
		p := g.phrases[n]
		names, ok := r.match(p.items, toks, i)
		if !ok || len(names) == 0 {
			continue
		}
		for _, name := range names {
			r.named(name, p.rule, lineAt(s, toks[i].at))
		}
		return true
	}
	return false
}

// lineAt returns the sentence around a position, as the message of an issue.
func lineAt(s string, at int) string {
	begin := at
	for begin > 0 && s[begin-1] != '\n' && !(begin > 1 && s[begin-1] == ' ' && (s[begin-2] == '.' || s[begin-2] == ';')) {
		begin--
	}
	end := at
	for end < len(s) && s[end] != '\n' && !(s[end] == '.' && (end+1 == len(s) || s[end+1] == ' ')) {
		end++
	}
	return clip(unlist(s[begin:end]), maxIssueText)
}

// unlist removes the bullet of a list item.
func unlist(item string) string {
	item = strings.TrimSpace(item)
	for _, mark := range []string{"• ", "- ", "* ", "– "} {
		if rest, ok := strings.CutPrefix(item, mark); ok {
			return strings.TrimSpace(rest)
		}
	}
	return item
}

const maxIssueText = 256

// speakers are the members that hold the sentence for people, the best first.
var speakers = []string{"message", "errormessage", "humanmessage", "errmsg", "faultstring", "msg", "usermessage", "displaymessage", "errordescription", "errordetail", "error", "err", "errorcontent", "detail",
	"reason", "errorreason", "description", "details", "title", "summary", "statustext", "stderr", "text", "cause", "data", "body", "response", "reply", "exception", "content", "output", "result"}

// sentence reads the members that hold text and returns the best of them.
func (r *reader) sentence(v wire.Value) string {
	found := make(map[string]string)
	for name, m := range v.Members() {
		if key := fold(clip(str(name), maxPath)); m.Type() == wire.TypeString && found[key] == "" && len(found) < 64 {
			found[key] = str(m)
		}
	}
	best, slug := "", ""
	if m := v.Path("message"); m.Type() == wire.TypeArray { // class-validator: one sentence per field
		best = r.value(m)
	}
	for rank, key := range speakers {
		text := strings.TrimSpace(found[key])
		switch {
		case text == "", !strings.ContainsFunc(text, unicode.IsLetter), rank > 9 && best != "" && !strings.ContainsAny(text, " {<"):
		case isSlug(text) || verdicts[text]:
			slug = firstOf(slug, text)
		default:
			said := r.text(text)
			best = firstOf(best, said)
		}
	}
	if best == "" && slug != "" && !verdicts[slug] {
		return slug
	}
	return best
}

// containers are the members that may hold a failure inside.
var containers = set("error", "errors", "err", "data", "details", "detail", "result", "results", "response", "body", "cause", "reason", "fault", "payload", "extensions", "recovery", "innererror", "originalerror", "meta",
	"errordata", "info", "additionalinfo", "headers", "responseheaders", "output", "errorinfo", "exception", "metadata", "retryinfo", "toolresult", "content", "structuredcontent", "failure", "context",
	"ratelimit", "limits", "graphqlerrors", "description", "baseresp", "err_", "responsemetadata", "json", "notes", "diagnostics", "@error", "failures", "validation", "$metadata", "$response", "httpheaders", "httpresponse")

// deeper reads the content of a member that may hold a failure.
func (r *reader) deeper(key string, v wire.Value) string {
	if !containers[key] || v.Type() != wire.TypeObject && v.Type() != wire.TypeArray {
		return ""
	}
	return r.value(v)
}

// maxElements is the maximum number of elements of an array that are read.
const maxElements = 32

// array reads a list: issues, content blocks, rejected promises, sentences.
func (r *reader) array(v wire.Value) string {
	if r.issueList(v, nil) {
		return ""
	}
	var texts []string
	n := 0
	for e := range v.Elements() {
		if n++; n > maxElements {
			break
		}
		if t := r.value(e); t != "" && len(texts) < 8 && !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "; ")
}
