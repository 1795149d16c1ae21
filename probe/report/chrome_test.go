package report_test

import (
	_ "github.com/chromedp/cdproto/runtime" // what the console said
	_ "github.com/chromedp/chromedp"        // the page is tried in a real browser
)
