// Package browser drives the Chromium of the machine for the domains "playwright" and "puppeteer", which differ only in
// the names of their methods and codes.
//
// Each session is a separate Chromium process with a private profile, controlled with chromedp. Pages are hostile:
//
//   - All traffic goes through a SOCKS proxy in this process that connects to allowed addresses only, see [netpolicy].
//     Chromium cannot resolve names itself, so that a name cannot change its address after the check, and it uses neither
//     QUIC nor UDP for WebRTC.
//   - Only http and https pages are opened. New windows are closed at once, downloads are denied, dialogs are dismissed, permissions are refused.
//   - Time and the size of all results are limited. A session without calls expires.
//   - Text of a page is returned in a member named page, without control characters and invisible characters, and never in an error.
//
// Memory and traffic of a page are not limited: chromedp mirrors the document in this process.
package browser
