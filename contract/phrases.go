package contract

import "bytes"

// The phrases that mark failures come from recorded answers and from the messages of common libraries. They match whole words,
// except in scripts without spaces, and only near the beginning of a text.

// opening phrases begin a text that is an error message.
var opening = newPhrasebook(`
	error
	errors:
	err|err!:
	*error|*exception:
	… error|errors|exception|failure:
	failed|failure|fatal|exception|traceback|panic
	an|a|the? unexpected|internal|unknown|fatal|network|connection|validation|server|api|authentication|authorization error
	an|a error|exception occurred|happened
	something|oops went? wrong
	oops|sorry something went wrong
	oops an error
	internal server|service error.
	there was an|a error|problem|issue with your
	there was an|a error|problem|issue processing|loading|fetching|creating|connecting|reading|writing|saving|sending|getting|retrieving|updating|deleting|executing|opening|parsing|handling|performing|calling|completing
	lost connection to the? server|database|mysql|host|upstream|browser|peer
	connection lost|aborted.
	request aborted.
	service|api temporarily|currently? unavailable|overloaded.
	deadline exceeded.
	division by zero|0.
	not a git repository:
	unable to
	could not
	couldn't|cannot|can't|couldnt
	can not
	did|was|were not
	unsuccessful
	not found|connected|allowed|authorized|authenticated|available|configured|supported|implemented|permitted|logged|ready|initialized|installed|enabled
	not a? valid
	invalid|missing|unsupported|unrecognized|unrecognised|unauthorized|unauthorised|forbidden|unauthenticated|unreachable|unavailable
	unknown tool|command|action|operation|argument|parameter|method|resource|option|type|field|key|error
	unknown project|timezone|unit|currency|symbol|provider|table|column|database|collection|repository|branch|channel|id|identifier:
	bad request|gateway|credentials
	too many|large|long
	rate|request|usage limit
	quota exceeded?
	insufficient *
	access is? denied
	permission denied
	authentication|authorization|validation|verification|login|connection|request|operation|execution|command|query|search|upload|download|parse failed|required|timed|error|refused|reset|denied
	timed out
	timeout
	no such
	http error? status?: 400|401|402|403|404|405|408|409|410|413|415|422|429|500|501|502|503|504
	status code? 400|401|403|404|409|422|429|500|502|503|504
	dangerous|unsafe *
	401|403|404|409|422|429|500|502|503|504 unauthorized|forbidden|not|conflict|too|internal|bad|service|gateway|error|unprocessable
	aborted|rejected|refused|denied|expired
	fehler|erreur|échec|Échec|erro|errore|błąd|ошибка|Ошибка|hata|virhe|feil|fel|fout|fallo|falha|fehlgeschlagen|caught
	noauth|wrongpass|wrongtype|moved|oom|readonly|noscript|err
	e11000|ora *
	404|403|401|429|500|502|503|504|400|422|409 *
	spawn … enoent|eacces
	bash|sh|zsh|cmd: … not|no|permission
	no space|permission|permissions|access|api|credentials|authorization|authentication|token|license
	canceling|cancelling statement
	exit|exited with? code|status
	command|script|program exited with code|status
	sql syntax|state|error
	usage:
	warning|error: error
`)

// predicates are phrases that make a sentence a failure.
var predicates = newPhrasebook(`
	is|was|were|are|could|does|do|did|has|have not been? a? valid? found|connected|exist|available|configured|authenticated|authorized|supported|initialized|allowed|valid|installed|running|set|provided|recognized|accessible|loaded|open|reachable|permitted|enabled|defined|implemented|specified|match|contain|have|understand
	isn't|wasn't|weren't|aren't|doesn't|don't|didn't|hasn't|haven't found|connected|exist|available|configured|authenticated|authorized|supported|initialized|allowed|valid|installed|running|set|provided|recognized|accessible|loaded|open|reachable|permitted|enabled|logged|have|match
	not found|connected|available|configured|authenticated|authorized|supported|initialized|installed|recognized|permitted|enabled|implemented|accessible|reachable
	is|are|was|were required|missing|invalid|unavailable|unreachable|disabled|forbidden|unsupported|unknown|incorrect|malformed|expired|blocked|refused|rejected|denied
	required|mandatory parameter|argument|field|property|option
	must be|provide|specify|have|set|call|contain|include|start|match|not
	should be
	requires a|an|the|either|at
	please provide|specify|check|configure|set|try|fix|supply|authenticate|login|install|ensure|make|run|start|use|restart|connect|open|retry|contact|verify|log|sign|enable
	cannot be
	does not exist
	doesn't exist
	no such
	no longer
	has|have? failed
	failed to
	failed with|because|due|after
	unable to
	could not
	couldn't|cannot|can't
	timed out
	denied|unauthorized|forbidden|expired|unreachable
	invalid api|key|token|credential|credentials|argument|arguments|parameter|parameters|input|request|value|url|uri|path|id|format|json|identifier|syntax|type|option|date|name|email|response|configuration
	no … provided|configured|specified|set|supplied|given|loaded|connected|registered
	no … found in|for|with|at|to
	expected … but|got|received
	requires|required|needs … permission|scope|scopes|privilege|authentication|login|token|key|argument|parameter|plan
	status code? 400|401|402|403|404|405|408|409|410|413|415|422|429|500|501|502|503|504
	http error? 400|401|402|403|404|405|408|409|410|413|415|422|429|500|501|502|503|504
	400|401|403|404|409|422|429|500|502|503|504 unauthorized|forbidden|not|conflict|too|internal|bad|service|gateway|client|server|unprocessable
	try again
	error occurred|while|when|during|code|calling|executing
	limit|quota|exceeded|exceeds exceeded|exceeds|reached|the|maximum
	too many|large|long|short requests|calls|*
	connection|socket|network refused|reset|closed|aborted|hang|error|failed|timeout
	fetch failed
	access|permission denied
	unexpected token|end|response|error
	enotfound|econnrefused|econnreset|etimedout|enoent|eacces|eperm|eexist|epipe|ehostunreach|enetunreach|eai_again
	not a valid
	not allowed|permitted|authorized|accepted|granted|set|started|opened|built|created|reachable|responding|whitelisted|defined
	service|server|api|endpoint is currently|temporarily unavailable|overloaded
	user declined|rejected|refused the? permission|authorization|consent
	not in the whitelist|allowlist|list
	already exists|exist|been|in|taken|registered|running|used
	is|are already in
	has|have not been *
	hasn't|haven't been *
	lack|lacks
	duplicate key|entry|name
	only available|supported|allowed|accepts|accept
	upgrade to|at|your
	not enough|sufficient
	statement|query|request|operation|connection timeout
	due to … timeout|error|failure
	command not found
	no space left
	login|sign|authentication|authorization|credentials|password|license|subscription … required|failed|invalid|incorrect|expired
	log in first|again|to
	session expired|invalid|closed|not
	… methods failed
	isn't|aren't a|an|the? *
	not understood|recognised|recognized
	syntax error
	an error in
	out of memory|range|bounds|credits|quota
	does not|doesn't support|accept|allow|match|have|contain|belong|resolve|respond
	did not|didn't respond|match|return|complete|start|find
	no identifier|handler|provider|driver|adapter|connection|connector|editor|browser|device|devices|instance|instances|session|server|servers … found|connected|available|running|configured|open|active
	is|was inactive|disabled|suspended|locked|archived|deleted|revoked|blocked|banned|unreachable|offline|down|dead|closed|unavailable
	was|were rejected|refused|denied|blocked|cancelled|canceled|aborted
	konnte|konnten|kann … nicht
	nicht gefunden|verfügbar|möglich|erlaubt|autorisiert
	no se … pudo|puede|encontró|encontro
	only … are|is allowed|supported|permitted|accepted
	is|are paused|sealed|full|exhausted|dead|busy|stopped|terminated
	has|have been deleted|disabled|closed|removed|revoked|suspended|archived|terminated|exceeded|added
	need|needs|must to? connect|join|login|log|sign|select|open|call|run|authenticate|authorize|install|create|be|provide|specify|set
	exceeded|exceeds|exceed limit|the|your|maximum|quota|rate
	retries exceeded
	rate limited
	caught exception
	was|were not *
	null pointer
	panicked at
	mailbox full
	file exists
	not provided|selected|initialised|logged|signed|supplied
	no account|authorization|permission|access *
	no active|open|current session|connection|browser|page|project|workspace|document|transaction|tab|window … first
	no active|open|running … found|connected|selected|available
	no route to
	authentication required
	impossible de|d'accéder
	n'a pas
	introuvable|inconnu|invalide|invalides
	não foi|pode|encontrado|encontrada|existe|autorizado
	inválido|inválida|inválidos|invalido|invalida
	impossibile
	non trovato|trovata|valido|autorizzato
	не удалось|найден|найдена|найдено|существует|могу|может
	ошибка|ошибке
`)

// ownVoice phrases describe the tool's own task, as in "Error reading file" and "Failed to fetch". Data rarely contains them.
var ownVoice = newPhrasebook(`
	error|errors|exception|failure while|when|during|in|on|with? *ing
	error|failure during
	error|failure executing|calling tool?
	failed to
	could not
	couldn't|cannot|can't
	unable to
	request|api call? failed
	… operation|request|call|command|query|execution failed:
	translation|conversion|transcription|summarization|detection|generation|compilation failed:
	security violation|error:
	command … timed|failed|rejected|blocked|not
	execution|script failed|timed
	spawn *
	ssh: … connect
	no se pudo
	impossible de
	não foi possível
	не удалось
	impossibile *
`)

// empty phrases begin the answer of a search that found nothing, which is a success.
var empty = newPhrasebook(`
	no … found|matching|matched|match|matches|results|result|records|items|data|entries|yet
	no … available|exist|exists
	0|zero … results|matches|items|found|records|entries
	nothing found|to
	found 0|no
	none found
	no failed|failing|broken|missing|invalid|failures|errors|exceptions|problems|warnings
`)

// done phrases describe a success.
var done = newPhrasebook(`
	success|successful|successfully|succeeded|completed|created|updated|written|deleted|added|saved|switched|done|wrote|copied|moved|removed|sent|started|tracked|recorded|stored|uploaded|installed|enabled|registered
	found 1|2|3|4|5|6|7|8|9
	results|files|matches for|in|found
	directory listing|tree
	contents of
	exit|exited with? code|status 0|zero
`)

// denials negate a done phrase: "not created", "was never saved".
var denials = newPhrasebook(`
	not|never|nothing|failed|failure|error|unable|cannot|can't|couldn't|wasn't|weren't|didn't|hasn't|unsuccessful
`)

// foreignOpenings begin error messages in scripts that do not separate words. They include symbols often put in front of errors.
var foreignOpenings = bytesOf(
	"错误", "错误", "失败", "未找到", "找不到", "无法", "请求失败", "参数错误", "无效", "缺少", "エラー", "失敗", "見つかりません", "오류", "실패", "에러",
	"❌", "✗", "✘", "⛔", "🚫", "💥", "🔴", "🛑", "🔒",
)

// foreignPredicates make a short sentence in those scripts a failure.
var foreignPredicates = bytesOf(
	"未找到", "不存在", "失败", "错误", "无法", "不能为空", "無効", "失敗しました", "見つかりません", "エラー", "できません", "찾을 수 없", "실패", "없습니다", "权限不足", "未授权", "已过期", "超时",
)

func bytesOf(texts ...string) [][]byte {
	out := make([][]byte, len(texts))
	for i, t := range texts {
		out[i] = []byte(t)
	}
	return out
}

func hasAnyPrefix(text []byte, prefixes [][]byte) bool {
	for _, p := range prefixes {
		if bytes.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

func containsAny(text []byte, parts [][]byte) bool {
	for _, p := range parts {
		if bytes.Contains(text, p) {
			return true
		}
	}
	return false
}
