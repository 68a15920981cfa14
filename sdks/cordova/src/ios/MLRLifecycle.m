#import "MLRLifecycle.h"

@interface MLRLifecycle ()

@property(atomic) BOOL isForeground;
@property(atomic, copy, nullable) NSString *url;
@property(nonatomic, weak) id<MLRLifecycleListener> listener;
/** One for each time that the app has left and not rested yet, oldest first. */
@property(nonatomic, readonly) NSMutableArray<NSNumber *> *tasks;

@end

@implementation MLRLifecycle

- (instancetype)initWithListener:(id<MLRLifecycleListener>)listener {
  self = [super init];
  if (self == nil) return nil;
  _listener = listener;
  _tasks = [NSMutableArray array];
  _isForeground = UIApplication.sharedApplication.applicationState != UIApplicationStateBackground;
  NSNotificationCenter *center = NSNotificationCenter.defaultCenter;
  [center addObserver:self selector:@selector(enters) name:UIApplicationWillEnterForegroundNotification object:nil];
  [center addObserver:self selector:@selector(leaves) name:UIApplicationDidEnterBackgroundNotification object:nil];
  return self;
}

- (void)openedURL:(NSString *)url {
  self.url = url;
}

- (void)enters {
  if (self.isForeground) return;
  self.isForeground = YES;
  // After this turn, because the link that is behind it may come with it or just after it.
  dispatch_async(dispatch_get_main_queue(), ^{
    if (self.isForeground) [self.listener enteredByURL:self.url];
  });
}

- (void)leaves {
  if (!self.isForeground) return;
  self.isForeground = NO;
  self.url = nil;
  UIApplication *application = UIApplication.sharedApplication;
  __block UIBackgroundTaskIdentifier task = UIBackgroundTaskInvalid;
  __weak MLRLifecycle *weakSelf = self;
  task = [application beginBackgroundTaskWithName:@"service-sdk-cordova"
                                expirationHandler:^{
                                  [weakSelf.listener backgroundTimeIsOver];
                                  [weakSelf ended:task];
                                  [application endBackgroundTask:task];
                                }];
  // Also where iOS gives no time: the event of leaving is to be stored all the same.
  [self.tasks addObject:@(task)];
  [self.listener left];
}

/** Its place stays: what it was begun for is still to rest. */
- (void)ended:(UIBackgroundTaskIdentifier)task {
  NSUInteger at = [self.tasks indexOfObject:@(task)];
  if (at != NSNotFound) self.tasks[at] = @(UIBackgroundTaskInvalid);
}

- (void)rested {
  dispatch_async(dispatch_get_main_queue(), ^{
    NSNumber *task = self.tasks.firstObject;
    if (task == nil) return;
    [self.tasks removeObjectAtIndex:0];
    if (task.unsignedIntegerValue != UIBackgroundTaskInvalid) {
      [UIApplication.sharedApplication endBackgroundTask:task.unsignedIntegerValue];
    }
  });
}

@end
