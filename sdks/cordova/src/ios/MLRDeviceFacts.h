#import <UIKit/UIKit.h>

NS_ASSUME_NONNULL_BEGIN

/**
 * What iOS says of app, device, network, screen and locale. A fact that cannot be had is left out, and no id of the device is
 * read unless it was asked for. Any thread but the main one, which is asked for what belongs to it. contracts/cordova-sdk.md §9, §13.
 */
@interface MLRDeviceFacts : NSObject

@property(nonatomic, readonly) NSString *systemVersion;
/** Of the Cordova platform; nil when it is not known. */
@property(nonatomic, readonly, nullable) NSString *platformVersion;
/** Also YES when that is not known. */
@property(atomic, readonly) BOOL isOnline;

/** @param changed is run when the network or the language changes. Once, on the main thread. */
- (void)watch:(void (^)(void))changed;

- (NSDictionary *)launchInForeground:(BOOL)isForeground url:(nullable NSString *)url;
- (NSDictionary *)contextWithDeviceId:(BOOL)withDeviceId;
- (NSDictionary *)changingContext;

/** {id?, enabled?, att?}, without linking the frameworks that know it, and without asking the user. */
- (void)readAdvertisingId:(void (^)(NSDictionary *known))then;

@end

NS_ASSUME_NONNULL_END
