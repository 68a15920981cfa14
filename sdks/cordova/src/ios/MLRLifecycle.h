#import <UIKit/UIKit.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MLRLifecycleListener <NSObject>

- (void)enteredByURL:(nullable NSString *)url;
/** To be followed by `rested`, once what has to be done then is done. */
- (void)left;
/** The request in progress is to end now. */
- (void)backgroundTimeIsOver;

@end

/**
 * Whether the app is in front, and the time that iOS gives it after it has left. Cordova's pause and resume play no part,
 * because they also come for dialogs. Main thread, but for the properties and `rested`. See contracts/cordova-sdk.md §10, §16.
 */
@interface MLRLifecycle : NSObject

@property(atomic, readonly) BOOL isForeground;
/** The link that brought the app to the foreground this time. */
@property(atomic, copy, readonly, nullable) NSString *url;

- (instancetype)initWithListener:(id<MLRLifecycleListener>)listener;
- (void)openedURL:(NSString *)url;
/** What leaving began has ended. Any thread. */
- (void)rested;

@end

NS_ASSUME_NONNULL_END
