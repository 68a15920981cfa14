/** The page of an app on the browser platform: cordova.js and nothing else, so that a test plays the app. */
export const PAGE = `<!doctype html>
<html>
  <head><meta charset="utf-8"><title>Shop</title></head>
  <body><script src="cordova.js"></script></body>
</html>
`
