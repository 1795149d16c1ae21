package foreign

import "strings"

// generics are sentences that hide the cause. They are compared without case, stop and "please try again later".
var generics = set("internal error", "internal server error", "an error occurred", "error", "something went wrong", "unknown error", "an unknown error occurred",
	"unexpected error", "an unexpected error occurred", "an internal error occurred", "an internal error has occurred", "tool execution failed", "execution failed", "request failed", "operation failed",
	"failed", "server error", "internal", "an error has occurred", "oops", "unknown", "error executing tool", "error calling tool", "[object object]", "undefined", "null",
	"发生错误", "未知错误", "服务器错误", "内部错误", "エラーが発生しました", "ein fehler ist aufgetreten", "ha ocurrido un error", "une erreur est survenue", "произошла ошибка")

// isMasked reports a sentence that says only that something failed, and the tool it names.
func isMasked(s string) (tool string, ok bool) {
	low := strings.ToLower(strings.TrimRight(s, ".!。 "))
	for _, tail := range []string{"please try again later", "please try again", "try again later"} {
		low = strings.TrimRight(strings.TrimSuffix(low, tail), ".!,; ")
	}
	if generics[low] {
		return "", true
	}
	for _, lead := range []string{"error executing tool ", "error calling tool ", "tool execution failed for "} {
		if rest, is := cutFold(strings.TrimRight(s, ". "), lead); is {
			tool = strings.Trim(rest, "'\"`")
			return tool, isToolName(tool)
		}
	}
	return "", false
}
