/* As much of Apple's UIKit as the plugin and Cordova's headers name; see Foundation.h beside it. */
#pragma once

#import <Foundation/Foundation.h>

typedef struct {
  CGFloat width, height;
} CGSize;
typedef struct {
  CGFloat x, y;
} CGPoint;
typedef struct {
  CGPoint origin;
  CGSize size;
} CGRect;

@class UIWindow, UIColor, UIScene, UISceneSession, UIOpenURLContext, UISceneConnectionOptions;

@interface UIResponder : NSObject
@end
@interface UIView : UIResponder
@end
@interface UIScrollView : UIView
@end
@interface UIViewController : UIResponder
@end
@interface UIDevice : NSObject
@property(class, readonly, strong) UIDevice *currentDevice;
@property(readonly, strong) NSString *model;
@property(readonly, strong) NSString *systemName;
@property(readonly, strong) NSString *systemVersion;
@property(readonly, strong) NSUUID *identifierForVendor;
@end
@interface UIScreen : NSObject
@property(class, readonly, strong) UIScreen *mainScreen;
@property(readonly) CGRect nativeBounds;
@property(readonly) CGFloat nativeScale;
@end

typedef NSUInteger UIBackgroundTaskIdentifier;
extern const UIBackgroundTaskIdentifier UIBackgroundTaskInvalid;
typedef NS_ENUM(NSInteger, UIApplicationState) {
  UIApplicationStateActive,
  UIApplicationStateInactive,
  UIApplicationStateBackground
};
typedef NS_OPTIONS(NSUInteger, UIInterfaceOrientationMask) { UIInterfaceOrientationMaskAll = 30 };
typedef NS_ENUM(NSInteger, UIInterfaceOrientation) { UIInterfaceOrientationUnknown = 0 };
typedef NS_ENUM(NSInteger, UIStatusBarStyle) { UIStatusBarStyleDefault = 0 };
typedef NSString *UIApplicationOpenURLOptionsKey;
typedef NSString *UIApplicationLaunchOptionsKey;
extern const NSNotificationName UIApplicationWillEnterForegroundNotification;
extern const NSNotificationName UIApplicationDidEnterBackgroundNotification;
extern const NSNotificationName UIApplicationProtectedDataDidBecomeAvailable;
@interface UIApplication : UIResponder
@property(class, readonly, strong) UIApplication *sharedApplication;
@property(readonly) UIApplicationState applicationState;
- (UIBackgroundTaskIdentifier)beginBackgroundTaskWithName:(NSString *)name expirationHandler:(void (^)(void))handler;
- (void)endBackgroundTask:(UIBackgroundTaskIdentifier)identifier;
@end
@protocol UIApplicationDelegate
@end
@protocol UISceneDelegate
@end
@protocol UIWindowSceneDelegate <UISceneDelegate>
@end
