package candor_test

import (
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// Stacks as they are printed, and their frames.
var printed = map[string]struct{ stack, frames string }{
	"node": {
		"TypeError: Cannot read (a.js:1:2)\n    at readPlan (/srv/app/dist/plan.js:10:15)\n    at async Server.run [as handler] (file:///srv/app/server.mjs:7:3)\n" +
			"    at new Plan (C:\\app\\plan.ts:1:2)\n    at /srv/app/x y.js:3:4\n    at Array.map (<anonymous>)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)\n" +
			"    at async Protocol._onrequest (/srv/app/node_modules/@modelcontextprotocol/sdk/dist/protocol.js:1:1)\n    at async file:///srv/main.mjs:8:9\n    at node:fs:12:3",
		"readPlan (plan.js:10:15)\nServer.run (server.mjs:7:3)\nPlan (plan.ts:1:2)\nArray.map (<anonymous>)\n<anonymous> (main.mjs:8:9)\n<anonymous> (node:fs:12:3)",
	},
	"python": {
		"Traceback (most recent call last):\n  File \"/usr/lib/python3.12/asyncio/runners.py\", line 118, in run\n    return self._loop.run()\n  File \"/srv/app/.venv/lib/python3.12/site-packages/mcp/server.py\", line 5, in call\n    x()\n" +
			"  File \"/srv/app/main.py\", line 3, in handle\n    return load(p)\n           ^^^^^^^\n  File \"/srv/app/load.py\", line 9, in load\n    raise ValueError('x')\nValueError: x",
		"load (load.py:9)\nhandle (main.py:3)",
	},
	"python script": {"  File \"<stdin>\", line 1\n    x(\nSyntaxError: bad", "<module> (<stdin>:1)"},
	"java": {
		"java.lang.IllegalStateException: no\n\tat com.x.Plan.read(Plan.java:10)\n\tat java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(DirectMethodHandleAccessor.java:103)\n" +
			"\tat java.base/java.util.ArrayList.get(ArrayList.java:4)\n\tat com.x.A.b(Native Method)\n\tat com.x.A.c(Unknown Source)\nCaused by: x\n\t... 12 more",
		"com.x.Plan.read (Plan.java:10)\njava.util.ArrayList.get (ArrayList.java:4)\ncom.x.A.b (native)\ncom.x.A.c (unknown)",
	},
	".net": {"System.Exception: no\n   at X.Y.Z(String a) in C:\\src\\y.cs:line 3\n   at X.W()", "X.Y.Z (y.cs:3)\nX.W (unknown)"},
	"go": {
		"panic: boom [recovered]\n\ngoroutine 1 [running]:\nruntime/debug.Stack()\n\t/usr/local/go/src/runtime/debug/stack.go:26 +0x5e\npanic({0x1, 0x2})\n\t/usr/local/go/src/runtime/panic.go:770 +0x132\n" +
			"example.com/app/plan.(*Store).Read(0xc0000, {0x1, 0x2})\n\t/home/u/app/plan/store.go:12 +0x1d\nmain.main()\n\t/home/u/app/main.go:3\ncreated by main.start in goroutine 1\n\t/home/u/app/main.go:1 +0x1",
		"plan.(*Store).Read (store.go:12)\nmain.main (main.go:3)",
	},
	"our own":          {"main.f (main.go:1)\nruntime.f (x.go:2)", "main.f (main.go:1)\nruntime.f (x.go:2)"},
	"framework alone":  {"goroutine 1 [running]:\nruntime.main()\n\t/usr/local/go/src/runtime/proc.go:283 +0x1", ""},
	"no frame is seen": {"first line\nat noon\n  second (line)\nthird", "first line\nat noon\n  second (line)\nthird"},
}

// TestH12StackTextsAreFrames checks that only the frames of the tool are counted and shown, in every supported format.
func TestH12StackTextsAreFrames(t *testing.T) {
	for name, tt := range printed {
		if got := (candor.StackPolicy{Verbose: 1 << 20}).FirstFrames(tt.frames); got != tt.frames {
			t.Errorf("%s: reading twice gives\n%s", name, got)
		}
		lines := strings.Split(tt.frames, "\n")
		for n := 1; n <= len(lines)+1; n++ {
			want := strings.Join(lines[:min(n, len(lines))], "\n")
			if got := (candor.StackPolicy{Verbose: n}).FirstFrames(tt.stack); got != want {
				t.Errorf("%s, %d frames:\n%s\nwant\n%s", name, n, got, want)
			}
		}
		if got := (candor.StackPolicy{Verbose: 1 << 20}).FirstFrames(tt.stack); got != tt.frames {
			t.Errorf("%s, all frames:\n%s", name, got)
		}
		if got := (candor.StackPolicy{Verbose: -1}).FirstFrames(tt.stack); got != tt.stack {
			t.Errorf("%s is not shown in full:\n%s", name, got)
		}
	}
}

func TestH12RealGoStack(t *testing.T) {
	stack := string(debug.Stack())
	if got := (candor.StackPolicy{Verbose: 2}).FirstFrames(stack); !regexp.MustCompile(`^candor_test\.TestH12RealGoStack \(frame_test\.go:\d+\)$`).MatchString(got) {
		t.Errorf("%q of\n%s", got, stack)
	}
}

func FuzzFramesAreStable(f *testing.F) {
	for _, tt := range printed {
		f.Add(tt.stack)
	}
	all := candor.StackPolicy{Verbose: 1 << 20}
	f.Fuzz(func(t *testing.T, stack string) {
		once := all.FirstFrames(stack)
		if again := all.FirstFrames(once); again != once {
			t.Errorf("%q\nbecomes %q\nthen    %q", stack, once, again)
		}
	})
}
