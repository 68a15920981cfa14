#import <Foundation/Foundation.h>

#import "MLRLifecycle.h"

NS_ASSUME_NONNULL_BEGIN

/** The success value of an action, or {code, detail}. Any thread. */
typedef void (^MLRAnswer)(BOOL isSuccess, id value);
typedef void (^MLRPage)(NSDictionary *signal);

/**
 * What is behind the bridge on iOS, once a process: the C engine on a serial queue of its own, and the world that it needs.
 * Nothing blocks the caller, and nothing is thrown at it.
 */
@interface MLREngine : NSObject <MLRLifecycleListener>

/** Made at its first use, on the main thread. */
+ (instancetype)ofProcess;

@property(nonatomic, readonly) MLRLifecycle *lifecycle;

/** The first signal is sent at once, before storage is touched. Of several pages the newest hears of the app. Main thread. */
- (void)listen:(MLRPage)page;
/** The page is gone. */
- (void)stopListening:(MLRPage)page;

/** All actions but `listen`. @param page that calls; nil: it does not listen */
- (void)act:(NSString *)action arguments:(NSArray *)arguments from:(nullable MLRPage)page answer:(MLRAnswer)answer;

@end

NS_ASSUME_NONNULL_END
