package contract

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// meaning maps phrases to a code.
type meaning struct {
	code candor.Code
	book *phrasebook

	stumble bool // the words of a runtime that failed on an unexpected value
}

func means(code candor.Code, phrases string) meaning {
	return meaning{code: code, book: newPhrasebook(phrases)}
}

func stumbles(code candor.Code, phrases string) meaning {
	m := means(code, phrases)
	m.stumble = true
	return m
}

// meanings are tried from top to bottom, the most specific first: a message may contain both "rate limit" and "try again", or
// "could not connect" and "check your credentials".
var meanings = []meaning{
	means(candor.CodeInternalError, `
		panic|panicked: … error|runtime|nil|index|thread|at
		panicked at
		maximum call stack
		null pointer
		nil pointer
		segmentation fault|violation`),
	means(candor.CodeRateLimited, `
		rate limit|limits|limited|limiting|limiter
		rate limited|exceeded
		too many requests|calls|attempts
		throttled|throttling|throttle
		slow down
		request|requests limit exceeded|reached
		请求过于频繁`),
	means(candor.CodeQuotaExceeded, `
		quota|credits|credit exceeded|exhausted|reached|limit|insufficient
		quota|credits|credit … exceeded|exhausted|reached|up
		insufficient quota|credits|funds|balance
		exceeded … quota
		monthly|daily|usage limit
		out of credits`),
	means(candor.CodePaymentRequired, `
		payment required
		billing|subscription|upgrade required|expired|inactive
		requires a? paid|pro|premium`),
	means(candor.CodeConfigurationMissing, `
		environment variable|variables … required|missing|set|not|is|are|must
		set|export|define the? *? environment variable|variables
		missing|required|undefined *? environment variable|variables
		*_api_key|*_token|*_key|*_url|*_secret|*_password … required|missing|unset|undefined|not|environment|must
		set|missing|configure|provide|requires|require|needs *_api_key|*_token|*_key|*_url|*_secret|*_password
		no|missing|without api|access|auth|authentication|bot|secret|private|personal|bearer|client? key|keys|token|credentials|credential|secret
		no|missing … api|access|auth|authentication|bot? key|token|credentials|credential … provided|configured|found|set|supplied|specified|available
		api|access|auth|authentication|bot|secret|private key|token|credentials|secret … not|is|are|required|missing provided|configured|set|required|missing|available|found|supplied|empty
		api|access|auth|authentication|bot|secret|private key|token|credentials required|missing
		credentials are|is? not|missing available|configured|found|provided|set
		not|isn't|aren't|n't been? configured
		no … configured
		could|cannot|can't|couldn't|unable|failed not? to? locate|load|find|obtain|read the|any? default|valid? credentials|credential
		please|must|need|needs to? configure
		configure … settings|url|key|token|credentials|server|endpoint|environment
		configuration|config … missing|required|invalid|not|error
		must be configured
		environment|config|configuration is|are? missing|incomplete|invalid`),
	means(candor.CodeUnauthenticated, `
		log|sign in first
		login|authenticate|authorize first
		not logged|signed in?
		must|need|needs|have to? be logged|signed|authenticated
		not|isn't|aren't authenticated
		authentication|login|authorization|sign|signin|auth in? is? required|needed|expired|timeout
		session|login|authorization|authentication|sign|auth in? has? expired|timed|ended
		please|must|need|needs to? log|sign in
		please|must|need|needs to? login|authenticate|reauthenticate|authorize
		unauthenticated`),
	means(candor.CodeUpstreamUnauthenticated, `
		unauthorized|unauthorised
		invalid|bad|incorrect|expired|wrong|revoked|rejected api|access|auth|authentication|bot|secret|client|bearer|refresh? key|token|credentials|credential|password|login|auth|authentication|signature|secret
		key|token|credentials|credential|password|secret … expired|invalid|revoked|rejected|incorrect|refused
		key|token|credentials|credential|password is|are|was? not valid|accepted|authorized|recognized
		authentication|authorization|login|auth failed|error|failure|unsuccessful
		failed|unable|could|cannot not? to? authenticate|login
		could not authenticate`),
	means(candor.CodePreconditionFailed, `
		need|needs|must|have|should|please … first
		call|use|run|open|start|connect|create|select|load|join|begin|initialize|launch|navigate|enable|attach … first.
		call|use|run|open|start|connect|create|select|load|join|begin|initialize|launch|navigate|enable|attach * *? *? *? first
		first call|run|use|connect|open|create|start|select|initialize|launch|load`),
	means(candor.CodePermissionDenied, `
		forbidden|denied
		permission|permissions|access|privileges denied|required|insufficient|not
		not allowed|permitted|authorized|authorised
		insufficient permission|permissions|privileges|scope|scopes|access
		not in the? allowed|permitted|allowlist|whitelist|approved list|directories|paths|hosts|domains?
		outside|not … allowed|workspace|root directory|directories|paths|path|workspace|root
		outside the|of … allowed|permitted|sandbox|workspace|root
		no … has|have … access|permission
		blocked by|for|url|request
		blocked url|request|hostname|host
		read only|readonly
		do|does|did|don't|doesn't not? have … access|permission|permissions|rights|privileges|scope|scopes
		权限不足`),
	means(candor.CodeDependencyMissing, `
		exit code|status 127
		command|executable|binary|binaries|program|module|browser|driver|chrome|chromium|java|python|docker|ffmpeg|interpreter|library|bindings|cli … not found|installed|exist
		executable|binary|program|module|bindings|interpreter … does|do not exist
		executable|binary|program|module|bindings|interpreter doesn't|don't exist
		could|cannot|can't|couldn't|unable|failed not? to? find|locate|load the|a|any? *? *? chrome|chromium|browser|executable|binary|module|java|python|docker|driver|bindings|interpreter|library
		could not find|locate *? *? executable|binary|chrome|chromium
		unable to obtain … driver
		is|are|isn't|aren't not? installed
		not installed
		cannot find module|package
		no module named
		executable file not found
		not recognized as an internal
		cannot open shared object
		not available|found … extension|library|binary
		please|must|need|to install
		dependency|dependencies … missing|not|required`),
	means(candor.CodeTimeout, `
		timed out
		timeout|timeouts
		time out|limit exceeded?
		deadline exceeded
		took too long`),
	means(candor.CodeCancelled, `
		cancelled|canceled|aborted
		was|user cancelled|canceled|aborted|interrupted
		context canceled`),
	means(candor.CodeUpstreamUnreachable, `
		connection|connect|socket|network|networking refused|reset|closed|aborted|failed|error|lost|unreachable|hang|disconnected|terminated|timeout
		connection to|with … failed|lost|closed|refused|reset
		connection|socket is|was|has been? closed|lost|terminated|refused|reset
		fetch failed
		socket hang up
		other side closed
		could|cannot|can't|couldn't|unable|failed|failure|problem|problems|trouble|error not? to? connect|connecting|reach|reaching|communicate|communicating|contact|contacting
		could|cannot|can't|couldn't|unable|failed not? to? resolve !to
		not connected
		no such host
		unknown|unresolved|unresolvable host|hostname
		host|hostname|domain not found|known
		name or service not known
		is the|your? *? *? server|daemon|service|database|app|application running
		no lsp|active|running … server|connection configured|found|available|running
		host|server|service|address unreachable|down|unreachable
		host|server|service|address is|are|was not running|reachable|responding|available
		getaddrinfo
		dial tcp
		disconnected|unreachable`),
	means(candor.CodeUnavailable, `
		service|server|temporarily|currently unavailable|overloaded|busy|down|maintenance
		unavailable|overloaded
		circuit breaker? is? open
		temporarily
		try again later
		is busy
		resource … busy|locked|exhausted
		database is locked
		previous failures`),
	means(candor.CodeDiskFull, `
		no space left
		disk … full
		out of space|disk`),
	means(candor.CodeDataCorrupt, `
		corrupt|corrupted|corruption
		checksum|digest|integrity mismatch|error|check|failed`),
	means(candor.CodeTooLarge, `
		too large|big|long|many|deep
		exceeds|exceeded … maximum|limit|size
		maximum … exceeded|size|length
		payload|request|file|input|content too large|big|long`),
	means(candor.CodeAlreadyExists, `
		already exists|exist|registered|taken|in|present|defined|created
		duplicate key|entry|name|id
		unique constraint`),
	means(candor.CodeConflict, `
		conflict|conflicts
		has|have been modified|changed
		was modified|changed
		version mismatch
		stale`),
	means(candor.CodeUnsupported, `
		not|isn't supported|implemented
		unsupported|unimplemented
		does not support
		only … are|is supported
		not available … in|on|for
		no longer supported|maintained`),
	// This comes before the guess that often follows: "it may have been deleted, or the ID is invalid".
	means(kaiza.FileNotFound, `
		file|files|directory|folder|path *? *? not found|exist
		file|files|directory|folder|path *? *? does|do|did not exist
		file|files|directory|folder|path *? *? doesn't|don't exist
		no such file|directory|folder
		could|cannot|can't|couldn't|unable not? to? find|locate|open the? file|directory|folder`),
	means(candor.CodeNotFound, `
		with id|ids|name|key|identifier|uuid|slug … not found|exist`),
	means(candor.CodeInvalidArguments, `
		invalid|missing|unknown|unrecognized|bad|illegal|incorrect|wrong|malformed|unexpected *? parameter|parameters|argument|arguments|input|inputs|value|values|option|options|field|fields|format|type|url|uri|path|id|identifier|syntax|date|name|email|query|command|action|operation|key|request|json|cursor|number|range|enum|selector|regex|pattern
		validation error|errors|failed|failure
		is|are|was required|invalid|missing|malformed|empty|unknown|mandatory
		required|mandatory parameter|parameters|argument|arguments|field|fields|property|properties|input|option|options
		must be|provide|specify|have|contain|include|start|match|not|supply|set
		should be
		requires a|an|the|either|at|one
		cannot be empty|null|blank|undefined|negative
		please provide|specify|supply|enter
		expected|expects … but|got|received|string|number|object|array|boolean|integer|one
		not a valid
		is not a? valid|string|number|object|array|boolean|integer|recognized|allowed
		invalid|missing !response|reply|json|configuration|certificate|error
		no … provided|specified|given|supplied
		cannot destructure|unmarshal|convert|parse
		provide one|either|a|at
		参数错误
		参数`),
	means(candor.CodePermissionDenied, `
		only … are|is allowed|permitted`),
	means(candor.CodeNotFound, `
		not|never found|exist
		not|never be|been found
		no such
		does|do|did not exist
		doesn't|don't exist
		no … found|exists|exist|matching|matches|available
		could not|cannot|unable to? find|locate
		could not resolve to
		couldn't find|locate
		no longer available|exists|exist
		unknown|nonexistent !error|errors|failure|exception|reason|cause|problem|issue|status|state|response|host|hostname|server
		missing !error|response|required
		未找到
		不存在`),
	means(candor.CodeConfigurationMissing, `
		invalid|malformed|bad *? url|uri|endpoint|hostname
		invalid connection string`),
	means(candor.CodePreconditionFailed, `
		before you|calling|using|running
		not initialized|ready|open|started|running|loaded|selected
		no active|open|current|selected *? session|page|connection|project|workspace|document|file|tab|window|browser|device
		no … is? connected|selected|loaded|open|opened|running
		precondition`),
	stumbles(candor.CodeInternalError, `
		cannot read property|properties of undefined|null
		is not a function|iterable|constructor
		is not defined
		object has no attribute
		object is not subscriptable|callable|iterable
		undefined|null is not an? object|function`),
	means(candor.CodeUpstreamError, `
		internal server error
		server|upstream error
		bad gateway`),
}

// symbolMeanings are for error symbols that were split into words.
var symbolMeanings = append([]meaning{
	means(candor.CodeInvalidArguments, `
		invalid|bad|missing|malformed|illegal params|parameter|parameters|param|argument|arguments|input|request|value|format|type|json|field|args|required
		validation|schema error|errors|failed|failure
		missing|required param|parameter|argument|field|property
		unprocessable
		type|value error`),
	means(candor.CodeNotFound, `
		not found|exist
		no such
		*notfound|notfound
		unknown *`),
	means(candor.CodeTimeout, `timeout|timedout`),
	means(candor.CodeUpstreamUnauthenticated, `
		auth|authentication|unauthorized|authorization|login|credentials error|failed|invalid
		invalid|expired|bad|not grant|client|token|credentials|auth|authed`),
	means(candor.CodeUpstreamUnreachable, `
		socket|connect|connection|network|fetch|dns error|exception|refused|reset|failed`),
	means(candor.CodeUpstreamBadResponse, `
		invalid|bad|malformed|unexpected response
		parse|decode|decoding response? error`),
	means(candor.CodePermissionDenied, `
		forbidden|permission|access|restricted denied|error
		insufficient scope|permissions`),
	means(candor.CodeUpstreamError, `internal server error`),
	means(candor.CodeInternalError, `
		internal|server|unexpected|unknown|unhandled error|exception|failure`),
}, meanings...)

var textLexicon, symbolLexicon = lexiconOf(meanings), lexiconOf(symbolMeanings)

// unknownTool phrases say that the tool does not exist.
var unknownTool = newPhrasebook(`
	unknown|unrecognized|invalid|undefined tool|tools|function|command:
	unknown tool|function
	tool … not found|exist|available|registered|supported|recognized|exists
	tool … does|is not exist|found|available|registered|a
	no tool|handler … named|registered|found|for
	no such tool|function|handler
`)

// unknownMethod phrases say that the method does not exist, in errors that do not use -32601.
var unknownMethod = newPhrasebook(`
	unknown|unrecognized|unsupported|invalid|unhandled method
	method … not found|supported|implemented|exist|available|recognized
	no such method
	no handler … method
`)

// tooEarly phrases say that the connection is not initialized yet.
var tooEarly = newPhrasebook(`
	not|before been? initialized|initialised|initialize|initialization
	during … initialization
	initialize first
	server|session|connection not initialized|ready
`)

// badCursor phrases are about the cursor of a list.
var badCursor = newPhrasebook(`
	cursor
`)

// notThere phrases say that the named resource or prompt does not exist.
var notThere = newPhrasebook(`
	not found|exist|supported
	unknown|invalid|missing resource|prompt|uri|url
	no … found|such|handler|resource|prompt
	does not exist
	is invalid
	not a … uri|url
	failed to read|get
	no such file
`)

// maxLines is the number of lines of a message that are searched.
const maxLines = 4

// lexicon combines a table of meanings in one phrasebook, so that a text is searched only once.
type lexicon struct {
	table []meaning
	book  *phrasebook // the rank of a phrase is the index of its meaning
}

func lexiconOf(table []meaning) lexicon {
	book := new(phrasebook)
	for rank, m := range table {
		for _, list := range m.book.lists {
			book.lists = append(book.lists, rankedList{list.text, rank})
		}
	}
	return lexicon{table, book}
}

// inWords returns the code of the first meaning in the table that occurs in the text, or the zero Code.
func inWords(text string, x lexicon) candor.Code {
	var lines [maxLines]line
	first := len(x.table)
	for i := range readLines(text, &lines) {
		for w := range lines[i].n {
			first = x.book.rankAt(&lines[i], w, first, 0)
		}
	}
	if first == len(x.table) {
		return candor.Code{}
	}
	return x.table[first].code
}

func inText(text string, book *phrasebook) bool {
	var lines [maxLines]line
	for i := range readLines(text, &lines) {
		if book.within(&lines[i], lineWords) {
			return true
		}
	}
	return false
}

func readLines(text string, lines *[maxLines]line) int {
	rest := []byte(text)
	n := 0
	for ; n < maxLines && len(rest) > 0; n++ {
		rest = lines[n].read(rest, false)
	}
	return n
}
