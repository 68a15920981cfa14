#import <Cordova/CDVPlugin.h>

/** The bridge's end on iOS: passes the actions of the page to the engine of the process, and its answers back. */
@interface MLRPlugin : CDVPlugin

- (void)listen:(CDVInvokedUrlCommand *)command;
- (void)open:(CDVInvokedUrlCommand *)command;
- (void)push:(CDVInvokedUrlCommand *)command;
- (void)state:(CDVInvokedUrlCommand *)command;
- (void)tail:(CDVInvokedUrlCommand *)command;
- (void)drain:(CDVInvokedUrlCommand *)command;
- (void)purge:(CDVInvokedUrlCommand *)command;
- (void)config:(CDVInvokedUrlCommand *)command;
- (void)advertId:(CDVInvokedUrlCommand *)command;

@end
