package gateway

import "testing"

// TestEndOfServerHasItsReason checks which line of standard error the message of a lost call quotes.
func TestEndOfServerHasItsReason(t *testing.T) {
	for name, test := range map[string]struct{ stderr, want string }{
		"Node":              {"node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module 'x.js'\n    at Module._load (node:internal:1)\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n", ": Error: Cannot find module 'x.js'"},
		"Node with a code":  {"TypeError [ERR_X]: bad value\n    at x (y.js:1:2)\n\nNode.js v20.20.2", ": TypeError [ERR_X]: bad value"},
		"Node, no reason":   {"listening\nNode.js v20.20.2", ": listening"},
		"Python":            {"Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nModuleNotFoundError: No module named 'b'\n", ": ModuleNotFoundError: No module named 'b'"},
		"Go":                {"starting\npanic: boom\n\ngoroutine 1 [running]:\nexit status 2", ": panic: boom"},
		"npm":               {"npm error code E404\nnpm error 404 Not Found\nnpm error A complete log of this run", ": npm error 404 Not Found"},
		"a log":             {"starting\nError handling is on\ncannot open the key file", ": cannot open the key file"},
		"a word of a log":   {"2 errors: see Error: below\nstopping", ": stopping"},
		"nothing":           {"", "."},
		"only its version":  {"Node.js v20.20.2", "."},
		"npm without cause": {"npm error code E404", ": npm error code E404"},
	} {
		want := "The server exited with code 1 during the call" + test.want
		if got := EndedText("exited with code 1", "during the call", test.stderr); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
