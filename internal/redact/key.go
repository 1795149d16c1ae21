package redact

// Key reports whether a member, header, parameter or variable of this name holds a secret.
//
// The name is read as words in any spelling (apiKey, api_key, X-Api-Key, API KEY) and the last word
// decides: client_secret holds a secret, secret_name a name, token_count a number. A plain "key"
// does not count, nor do primary_key, public_key and similar names; api_key and private_key do.
// Tokens of a listing (next_page_token, pagination_token, sync_token) do not count either: they give
// no additional access, and the caller must be able to send them back. The same
// is true for session_id, which correlates; sessionToken counts.
func Key(name string) bool { return meaningOf(name).level == strong }

// nameLimit bounds how many bytes of a name are read, from its end.
const nameLimit = 64

// meaningOf returns the meaning of a name. It does not allocate.
func meaningOf(name string) meaning {
	var ws nameWords
	ws.split(name)
	n := ws.n
	for n > 1 && tails[string(ws.at(n-1))] {
		n--
	}
	if n == 0 {
		return meaning{}
	}
	head := ws.at(n - 1)
	var owner []byte
	if n > 1 {
		owner = ws.at(n - 2)
	}
	m, ok := heads[string(head)]
	if !ok {
		return ws.other(n, head, owner)
	}
	return m.owned(string(head), owner)
}

// owned corrects the meaning of words that depend on the word before them.
func (m meaning) owned(head string, owner []byte) meaning {
	switch head {
	case "key", "keys":
		if keyOwners[string(owner)] {
			m.level = strong
		} else if keyOthers[string(owner)] {
			m.level = none
		}
	case "token":
		if tokenOthers[string(owner)] {
			m.level = none
		}
	case "pass":
		if passOwners[string(owner)] {
			m.level = strong
		}
	case "authorization":
		if string(owner) == "modelcontextprotocol" { // the member of _meta that says why a request was denied
			m.level = none
		}
	case "code", "session", "seed", "salt":
		// Everyday words: they count alone or as part of an authorization, but not otherwise.
		if len(owner) > 0 && string(owner) != "auth" && string(owner) != "authorization" {
			m.level = none
		}
	}
	return m
}

// other returns the meaning of names with a last word that is not in heads.
func (ws *nameWords) other(n int, head, owner []byte) meaning {
	switch string(head) {
	case "tokens":
		if tokenOwners[string(owner)] {
			return meaning{kindToken, strong}
		}
	case "string", "str", "uri":
		if o := string(owner); o == "connection" || o == "conn" || o == "connect" {
			return meaning{kindConnection, strong}
		}
	case "id":
		// AWS calls half of a credential an id; Vault calls a secret one.
		if o := string(owner); o == "secret" || o == "key" && n > 2 && string(ws.at(n-3)) == "access" {
			return meaning{kindKey, weak}
		}
	}
	for _, f := range fused {
		for _, ending := range f.words {
			if n := len(head) - len(ending); n >= 0 && string(head[n:]) == ending {
				return f.meaning
			}
		}
	}
	return meaning{}
}

// nameEnds holds the last three letters of the words that may give a name a meaning, and of the words that a longer name may end in.
var nameEnds = buildNameEnds()

func buildNameEnds() *triples {
	t := new(triples)
	add := func(w string) {
		if len(w) > 2 { // mayName accepts all short words
			t.add(w[len(w)-3:])
		}
	}
	for _, words := range []map[string]bool{tails, set(foreignWords...), set("tokens", "string", "str", "uri", "tid", "yid")} {
		for w := range words {
			add(w)
		}
	}
	for w := range heads {
		add(w)
	}
	for w := range siblings {
		add(w)
	}
	for _, f := range fused {
		for _, w := range f.words {
			add(w)
		}
	}
	return t
}

// mayName reports whether the text that ends at i may end with a name that has a meaning. It is fast, and wrong only if it
// reports true: digits, punctuation and white space after the name are skipped, and words of less than four letters count.
func mayName(s string, i int) bool {
	const letter = upper | lower
	for end := max(0, i-nameLimit); i > end && s[i-1] < 0x80 && !letter.in(s[i-1]); i-- {
		if s[i-1] == ';' {
			return true // the end of &quot;
		}
	}
	if i < 4 || letter.back(s, i, 4) > i-4 {
		return i > 0
	}
	if upper.in(s[i-2]) && (lower.in(s[i-1]) || lower.in(s[i-3])) {
		return true // a word of two letters
	}
	return nameEnds.has(s[i-3:])
}

// nameWords is a name in lower case, split into words.
type nameWords struct {
	buf  [nameLimit]byte
	ends [nameLimit]uint8
	n    int
	used int
}

func (ws *nameWords) at(i int) []byte {
	from := 0
	if i > 0 {
		from = int(ws.ends[i-1])
	}
	return ws.buf[from:ws.ends[i]]
}

// split splits at everything that is not a letter or digit and at case changes of camelCase. Digits stay
// with their word, except for those at its end: password2 is a password.
func (ws *nameWords) split(name string) {
	if len(name) > nameLimit {
		name = name[len(name)-nameLimit:]
	}
	for i := range len(name) {
		c := name[i]
		if !alnum.in(c) {
			ws.close()
			continue
		}
		if i > 0 && hump(name, i) {
			ws.close()
		}
		ws.buf[ws.used] = lowerByte(c)
		ws.used++
	}
	ws.close()
}

// hump reports whether a new word begins at i: aB, and the last capital of ABc.
func hump(name string, i int) bool {
	if !upper.in(name[i]) {
		return false
	}
	return (lower | digit).in(name[i-1]) ||
		upper.in(name[i-1]) && i+1 < len(name) && lower.in(name[i+1]) && !plural(name, i+1)
}

// plural reports whether the remainder of the word is the s of APIs, which does not begin a new word.
func plural(name string, i int) bool {
	return name[i] == 's' && (i+1 == len(name) || !lower.in(name[i+1]))
}

func (ws *nameWords) close() {
	from := 0
	if ws.n > 0 {
		from = int(ws.ends[ws.n-1])
	}
	end := ws.used
	for end > from && digit.in(ws.buf[end-1]) {
		end--
	}
	ws.used = end
	if end == from {
		return
	}
	ws.ends[ws.n] = uint8(end) //nolint:gosec // names are cut long before
	ws.n++
}
