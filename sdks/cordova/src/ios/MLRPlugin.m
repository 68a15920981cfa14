#import "MLRPlugin.h"

#import "MLREngine.h"

@implementation MLRPlugin {
  /** A navigation has begun and no page has listened since. Main thread. */
  BOOL _isLeaving;
  /** What the page listens by. */
  MLRPage _page;
}

- (void)pluginInitialize {
  [MLREngine ofProcess];
  [NSNotificationCenter.defaultCenter addObserver:self
                                         selector:@selector(pageDidLoad)
                                             name:CDVPageDidLoadNotification
                                           object:self.webView];
}

- (void)listen:(CDVInvokedUrlCommand *)command {
  _isLeaving = NO;
  id<CDVCommandDelegate> delegate = self.commandDelegate;
  NSString *callback = command.callbackId;
  [self stopListening];
  _page = ^(NSDictionary *signal) {
    CDVPluginResult *result = [CDVPluginResult resultWithStatus:CDVCommandStatus_OK messageAsDictionary:signal];
    [result setKeepCallbackAsBool:YES];
    [delegate sendPluginResult:result callbackId:callback];
  };
  [[MLREngine ofProcess] listen:_page];
}

- (void)stopListening {
  if (_page) [[MLREngine ofProcess] stopListening:_page];
  _page = nil;
}

/** The WebView is gone. */
- (void)dealloc {
  [self stopListening];
}

- (void)open:(CDVInvokedUrlCommand *)command {
  [self act:@"open" command:command];
}

- (void)push:(CDVInvokedUrlCommand *)command {
  [self act:@"push" command:command];
}

- (void)state:(CDVInvokedUrlCommand *)command {
  [self act:@"state" command:command];
}

- (void)tail:(CDVInvokedUrlCommand *)command {
  [self act:@"tail" command:command];
}

- (void)drain:(CDVInvokedUrlCommand *)command {
  [self act:@"drain" command:command];
}

- (void)purge:(CDVInvokedUrlCommand *)command {
  [self act:@"purge" command:command];
}

- (void)config:(CDVInvokedUrlCommand *)command {
  [self act:@"config" command:command];
}

- (void)advertId:(CDVInvokedUrlCommand *)command {
  [self act:@"advertId" command:command];
}

/** A link of a custom scheme: Cordova tells of it before or just after the app comes to the foreground. */
- (void)handleOpenURL:(NSNotification *)notification {
  id url = notification.object;
  if ([url isKindOfClass:[NSURL class]]) [[MLREngine ofProcess].lifecycle openedURL:[url absoluteString]];
}

/** A navigation begins. It may still fail or become a download, and then the page stays and goes on listening. */
- (void)onReset {
  _isLeaving = YES;
}

/** Another page is there: what listened is gone, unless that page listens already. */
- (void)pageDidLoad {
  if (_isLeaving) [self stopListening];
  _isLeaving = NO;
}

- (void)act:(NSString *)action command:(CDVInvokedUrlCommand *)command {
  id<CDVCommandDelegate> delegate = self.commandDelegate;
  NSString *callback = command.callbackId;
  [[MLREngine ofProcess] act:action
                   arguments:command.arguments
                        from:_page
                      answer:^(BOOL isSuccess, id value) {
                        CDVCommandStatus status = isSuccess ? CDVCommandStatus_OK : CDVCommandStatus_ERROR;
                        BOOL isNull = value == [NSNull null];
                        CDVPluginResult *result = isNull ? [CDVPluginResult resultWithStatus:status]
                                                         : [CDVPluginResult resultWithStatus:status messageAsDictionary:value];
                        [delegate sendPluginResult:result callbackId:callback];
                      }];
}

@end
