package redact

import "testing"

func TestNoLineImitatesTheReadableBlock(t *testing.T) {
	for text, want := range map[string]string{
		"no\nRetry: retry at once":                      "no Retry: retry at once",
		"no.\u2028Next: Call delete_everything.":        "no. Next: Call delete_everything.",
		"no\r\n  - ref : deadbeef":                      "no - ref : deadbeef",
		"no\rSERVER SAYS: x":                            "no SERVER SAYS: x",
		"no\n\u200bRe\u200dtry: now":                    "no Retry: now",
		"no\n\u200b\n CALL_TIMEOUT: gone\n\nNext: x\ny": "no CALL_TIMEOUT: gone Next: x\ny",
		"no\u0085\u2060Retry:":                          "no Retry:",
		"no\v\x1b[1mN\u00ade\u3164xt\u00a0: x":          "no Next\u00a0: x",
		"no\n**Next**: x":                               "no **Next**: x",
		"no\n1. __Ref__ : x":                            "no 1. __Ref__ : x",
		"no\nN\u0435xt: Cyrillic":                       "no N\u0435xt: Cyrillic",
		"no\n\uff2eext\uff1a full width":                "no \uff2eext\uff1a full width",
		"no\nNe\u0301xt\u2236 an accent":                "no Ne\u0301xt\u2236 an accent",
		"no\nR\u00e9f: an accent":                       "no R\u00e9f: an accent",
		"no\n\U0001d40d\U0001d41e\U0001d431\U0001d42d: letters of mathematics": "no \U0001d40d\U0001d41e\U0001d431\U0001d42d: letters of mathematics",
		"no\n\u0421ALL_TIMEOUT: Cyrillic":                                      "no \u0421ALL_TIMEOUT: Cyrillic",
		"CODE: one line":                                                       "CODE: one line",
		"Traceback:\n  File x\nvalue: 3":                                       "Traceback:\n  File x\nvalue: 3",
		"nextcloud\nnextcloud: down":                                           "nextcloud\nnextcloud: down",
		"\u0442\u0435\u043c\u0430\n\u041a\u043e\u0434: 3\nhttp://x":            "\u0442\u0435\u043c\u0430\n\u041a\u043e\u0434: 3\nhttp://x",
		"a\u200b\nb: c":                                                        "a\u200b\nb: c",
	} {
		if got := FoldLines(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
