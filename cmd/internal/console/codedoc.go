package console

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/catalogue"
)

// codeView is the documentation of a code, as candor explain prints it.
type codeView struct {
	Symbol       string   `json:"symbol"`
	Domain       string   `json:"domain"`
	Number       int      `json:"number"`
	Message      string   `json:"message"`
	Action       string   `json:"action"`
	Class        string   `json:"class"`
	ClassMeaning string   `json:"classMeaning"`
	Retry        string   `json:"retry"`
	Status       string   `json:"status"`
	Since        string   `json:"since"`
	Aliases      []string `json:"aliases,omitempty"`
	Page         string   `json:"page"` // in the repository
}

// codeViewOf returns the documentation of a code, or nil if this version does not know it.
func codeViewOf(domain, symbol string) *codeView {
	if symbol == "" {
		return nil
	}
	code, err := candor.ParseCode(strings.TrimPrefix(domain+"/"+symbol, "/"))
	if err != nil {
		return nil
	}
	return &codeView{
		Symbol: code.Symbol(), Domain: code.Domain(), Number: code.Number(), Message: code.Info().Sentence, Action: code.Info().Action,
		Class: string(code.Class()), ClassMeaning: catalogue.ClassMeaning(string(code.Class())), Retry: retryWords(code.Retry()),
		Status: code.Info().Status, Since: code.Info().Since, Aliases: code.Info().Aliases, Page: "docs/codes/" + code.String() + ".md",
	}
}

// retryWords returns retry advice as a clause.
func retryWords(r candor.Retry) string {
	switch r.Kind() {
	case candor.RetryImmediate:
		return "the same call may be sent again at once"
	case candor.RetryAfterMs:
		return fmt.Sprintf("the same call may be sent again after %d ms", r.AfterMs())
	case candor.RetryNever:
	}
	return "do not send the same call again unchanged"
}
