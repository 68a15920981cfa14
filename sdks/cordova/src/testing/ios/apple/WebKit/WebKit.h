/* As much of Apple's WebKit as Cordova's headers name; see Foundation.h. */
#pragma once

#import <UIKit/UIKit.h>

@interface WKWebView : UIView
@end
@interface WKWebViewConfiguration : NSObject
@end
@interface WKProcessPool : NSObject
@end
@interface WKNavigationAction : NSObject
@end
