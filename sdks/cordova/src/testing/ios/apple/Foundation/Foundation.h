/*
 * As much of Apple's Foundation as the plugin and Cordova's headers name, so that `clang -fobjc-arc -fsyntax-only` can check
 * selectors, types and ownership where there is no Xcode. Declarations only, after Apple's documentation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef signed char BOOL;
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil ((id)0)
typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef double CGFloat;
typedef double NSTimeInterval;
typedef struct {
  NSUInteger location, length;
} NSRange;
#define NSNotFound ((NSUInteger)0x7fffffffffffffff)
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_ENUM(type, name) enum name : type name; enum name : type
#define NS_OPTIONS(type, name) enum name : type name; enum name : type
#define NS_SWIFT_NAME(name)
#define NS_SWIFT_UI_ACTOR
#define NS_DESIGNATED_INITIALIZER
#define NS_REQUIRES_SUPER
#define NS_UNAVAILABLE
#define NS_TYPED_EXTENSIBLE_ENUM
#define NS_FORMAT_FUNCTION(format, first)
#define API_AVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#define FOUNDATION_EXPORT extern
#define UIKIT_EXTERN extern
#define NSEC_PER_MSEC 1000000ull
#define TARGET_OS_VISION 0

@class NSArray<ObjectType>, NSDictionary<KeyType, ObjectType>, NSString, NSError, NSData, NSURL, NSURLRequest, NSDate, NSNumber;

__attribute__((objc_root_class)) @interface NSObject
+ (instancetype)alloc;
- (instancetype)init;
+ (Class)class;
- (BOOL)isKindOfClass:(Class)of;
- (BOOL)isEqual:(id)other;
- (id)copy;
- (id)mutableCopy;
- (id)valueForKey:(NSString *)key;
+ (id)valueForKey:(NSString *)key;
@end
@protocol NSObject
- (BOOL)isKindOfClass:(Class)of;
@end
@protocol NSCopying
@end
typedef struct {
  unsigned long state;
  id __unsafe_unretained _Nullable *_Nullable itemsPtr;
  unsigned long *_Nullable mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;
@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id __unsafe_unretained _Nullable[])buffer
                                    count:(NSUInteger)length;
@end

@interface NSNull : NSObject
+ (NSNull *)null;
@end

@interface NSString : NSObject <NSCopying>
@property(readonly) NSUInteger length;
@property(readonly) const char *UTF8String;
@property(readonly) const char *fileSystemRepresentation;
@property(readonly, copy) NSString *lowercaseString;
+ (instancetype)stringWithUTF8String:(const char *)bytes;
+ (instancetype)stringWithFormat:(NSString *)format, ...;
- (BOOL)isEqualToString:(NSString *)other;
- (NSInteger)caseInsensitiveCompare:(NSString *)other;
- (NSString *)stringByAppendingPathComponent:(NSString *)component;
@end
@interface NSConstantString : NSString
@end
enum { NSOrderedAscending = -1, NSOrderedSame, NSOrderedDescending };

@interface NSNumber : NSObject <NSCopying>
@property(readonly) NSUInteger unsignedIntegerValue;
+ (NSNumber *)numberWithInt:(int)value;
+ (NSNumber *)numberWithUnsignedInt:(unsigned)value;
+ (NSNumber *)numberWithLong:(long)value;
+ (NSNumber *)numberWithUnsignedLong:(unsigned long)value;
+ (NSNumber *)numberWithLongLong:(long long)value;
+ (NSNumber *)numberWithUnsignedLongLong:(unsigned long long)value;
+ (NSNumber *)numberWithDouble:(double)value;
+ (NSNumber *)numberWithBool:(BOOL)value;
+ (NSNumber *)numberWithInteger:(NSInteger)value;
+ (NSNumber *)numberWithUnsignedInteger:(NSUInteger)value;
@end

@interface NSEnumerator<ObjectType> : NSObject
@end

@interface NSArray<__covariant ObjectType> : NSObject <NSFastEnumeration, NSCopying>
@property(readonly) NSUInteger count;
@property(readonly) ObjectType firstObject;
@property(readonly) ObjectType lastObject;
+ (instancetype)arrayWithObjects:(const ObjectType[])objects count:(NSUInteger)count;
- (ObjectType)objectAtIndexedSubscript:(NSUInteger)index;
- (NSUInteger)indexOfObject:(ObjectType)object;
- (NSArray<ObjectType> *)copy;
- (id)mutableCopy;
@end
@interface NSMutableArray<ObjectType> : NSArray <ObjectType>
+ (instancetype)array;
- (void)addObject:(ObjectType)object;
- (void)removeObject:(ObjectType)object;
- (void)removeObjectAtIndex:(NSUInteger)index;
- (void)setObject:(ObjectType)object atIndexedSubscript:(NSUInteger)index;
@end

@interface NSDictionary<__covariant KeyType, __covariant ObjectType> : NSObject <NSFastEnumeration, NSCopying>
@property(readonly) NSUInteger count;
+ (instancetype)dictionaryWithObjects:(const ObjectType[])objects forKeys:(const KeyType<NSCopying>[])keys count:(NSUInteger)count;
- (ObjectType)objectForKeyedSubscript:(KeyType)key;
- (id)mutableCopy;
@end
@interface NSMutableDictionary<KeyType, ObjectType> : NSDictionary <KeyType, ObjectType>
+ (instancetype)dictionary;
- (void)setObject:(ObjectType)object forKeyedSubscript:(KeyType<NSCopying>)key;
- (void)removeObjectForKey:(KeyType)key;
@end
@interface NSSet<ObjectType> : NSObject
@end

@interface NSData : NSObject
@property(readonly) const void *bytes;
@property(readonly) NSUInteger length;
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length;
- (NSData *)subdataWithRange:(NSRange)range;
@end
@interface NSMutableData : NSData
+ (instancetype)data;
- (void)appendData:(NSData *)data;
@end
static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  return (NSRange){location, length};
}

@interface NSError : NSObject
@property(readonly, copy) NSString *domain;
@property(readonly) NSInteger code;
@end
@interface NSException : NSObject
@end
@interface NSDate : NSObject
+ (instancetype)date;
@property(readonly) NSTimeInterval timeIntervalSince1970;
@end
@interface NSUUID : NSObject
+ (instancetype)UUID;
@property(readonly, copy) NSString *UUIDString;
@end
@interface NSLocale : NSObject
@property(class, readonly, copy) NSArray<NSString *> *preferredLanguages;
@end
extern NSString *const NSCurrentLocaleDidChangeNotification;

@interface NSBundle : NSObject
@property(class, readonly) NSBundle *mainBundle;
@property(readonly, copy) NSString *bundleIdentifier;
- (id)objectForInfoDictionaryKey:(NSString *)key;
@end

@interface NSURL : NSObject
+ (instancetype)URLWithString:(NSString *)text;
+ (NSURL *)fileURLWithPath:(NSString *)path isDirectory:(BOOL)isDirectory;
@property(readonly, copy) NSString *absoluteString;
- (BOOL)setResourceValue:(id)value forKey:(NSString *)key error:(NSError **)error;
@end
extern NSString *const NSURLIsExcludedFromBackupKey;
extern NSString *const NSFileProtectionKey;
extern NSString *const NSFileProtectionCompleteUntilFirstUserAuthentication;
@interface NSFileManager : NSObject
@property(class, readonly) NSFileManager *defaultManager;
- (BOOL)createDirectoryAtPath:(NSString *)path
    withIntermediateDirectories:(BOOL)intermediate
                     attributes:(NSDictionary *)attributes
                          error:(NSError **)error;
@end
typedef NS_ENUM(NSUInteger, NSSearchPathDirectory) { NSApplicationSupportDirectory = 14 };
typedef NS_OPTIONS(NSUInteger, NSSearchPathDomainMask) { NSUserDomainMask = 1 };
extern NSArray<NSString *> *NSSearchPathForDirectoriesInDomains(NSSearchPathDirectory, NSSearchPathDomainMask, BOOL);

typedef NS_OPTIONS(NSUInteger, NSJSONReadingOptions) { NSJSONReadingFragmentsAllowed = 4 };
typedef NS_OPTIONS(NSUInteger, NSJSONWritingOptions) { NSJSONWritingPrettyPrinted = 1 };
@interface NSJSONSerialization : NSObject
+ (id)JSONObjectWithData:(NSData *)data options:(NSJSONReadingOptions)options error:(NSError **)error;
+ (NSData *)dataWithJSONObject:(id)object options:(NSJSONWritingOptions)options error:(NSError **)error;
@end

typedef NSString *NSNotificationName;
@interface NSNotification : NSObject
@property(readonly, retain) id object;
@end
@class NSOperationQueue;
@interface NSNotificationCenter : NSObject
@property(class, readonly, strong) NSNotificationCenter *defaultCenter;
- (void)addObserver:(id)observer selector:(SEL)selector name:(NSNotificationName)name object:(id)object;
- (id)addObserverForName:(NSNotificationName)name
                  object:(id)object
                   queue:(NSOperationQueue *)queue
              usingBlock:(void (^)(NSNotification *))block;
@end

typedef NSObject *dispatch_queue_t;
typedef uint64_t dispatch_time_t;
typedef intptr_t dispatch_once_t;
#define DISPATCH_QUEUE_SERIAL ((id)0)
#define DISPATCH_TIME_NOW 0ull
extern dispatch_queue_t dispatch_queue_create(const char *label, id attributes);
extern dispatch_queue_t dispatch_get_main_queue(void);
extern void dispatch_async(dispatch_queue_t queue, void (^block)(void));
extern void dispatch_sync(dispatch_queue_t queue, __attribute__((noescape)) void (^block)(void));
extern void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, void (^block)(void));
extern dispatch_time_t dispatch_time(dispatch_time_t when, int64_t nanoseconds);
extern void dispatch_once(dispatch_once_t *once, __attribute__((noescape)) void (^block)(void));

@interface NSXMLParser : NSObject
@end
@protocol NSXMLParserDelegate
@end
@interface NSURLAuthenticationChallenge : NSObject
@end
@interface NSURLCredential : NSObject
@end
typedef NS_ENUM(NSInteger, NSURLSessionAuthChallengeDisposition) { NSURLSessionAuthChallengeUseCredential = 0 };
@interface NSOperationQueue : NSObject
@property(assign) dispatch_queue_t underlyingQueue;
@end
@interface NSURLRequest : NSObject
+ (instancetype)requestWithURL:(NSURL *)url;
@end
@interface NSMutableURLRequest : NSURLRequest
@property(copy) NSString *HTTPMethod;
@property(copy) NSData *HTTPBody;
@property NSTimeInterval timeoutInterval;
- (void)setValue:(NSString *)value forHTTPHeaderField:(NSString *)field;
@end
@interface NSURLResponse : NSObject
@end
@interface NSHTTPURLResponse : NSURLResponse
@property(readonly) NSInteger statusCode;
@property(readonly, copy) NSDictionary *allHeaderFields;
@end
typedef NS_ENUM(NSUInteger, NSURLRequestCachePolicy) { NSURLRequestReloadIgnoringLocalCacheData = 1 };
typedef NS_ENUM(NSInteger, NSURLSessionResponseDisposition) { NSURLSessionResponseCancel = 0, NSURLSessionResponseAllow = 1 };
@interface NSURLSessionConfiguration : NSObject
@property(class, readonly, strong) NSURLSessionConfiguration *ephemeralSessionConfiguration;
@property(retain) id HTTPCookieStorage;
@property BOOL HTTPShouldSetCookies;
@property(retain) id URLCache;
@property(retain) id URLCredentialStorage;
@property NSURLRequestCachePolicy requestCachePolicy;
@end
@interface NSURLSessionTask : NSObject
- (void)resume;
- (void)cancel;
@end
@interface NSURLSessionDataTask : NSURLSessionTask
@end
@class NSURLSession;
@protocol NSURLSessionTaskDelegate <NSObject>
@optional
- (void)URLSession:(NSURLSession *)session
                          task:(NSURLSessionTask *)task
    willPerformHTTPRedirection:(NSHTTPURLResponse *)response
                    newRequest:(NSURLRequest *)request
             completionHandler:(void (^)(NSURLRequest *))completionHandler;
- (void)URLSession:(NSURLSession *)session
                        task:(NSURLSessionTask *)task
             didSendBodyData:(int64_t)bytesSent
              totalBytesSent:(int64_t)totalBytesSent
    totalBytesExpectedToSend:(int64_t)totalBytesExpectedToSend;
- (void)URLSession:(NSURLSession *)session task:(NSURLSessionTask *)task didCompleteWithError:(NSError *)error;
@end
@protocol NSURLSessionDataDelegate <NSURLSessionTaskDelegate>
@optional
- (void)URLSession:(NSURLSession *)session
              dataTask:(NSURLSessionDataTask *)task
    didReceiveResponse:(NSURLResponse *)response
     completionHandler:(void (^)(NSURLSessionResponseDisposition))completionHandler;
- (void)URLSession:(NSURLSession *)session dataTask:(NSURLSessionDataTask *)task didReceiveData:(NSData *)data;
@end
@interface NSURLSession : NSObject
+ (NSURLSession *)sessionWithConfiguration:(NSURLSessionConfiguration *)configuration
                                  delegate:(id<NSURLSessionTaskDelegate>)delegate
                             delegateQueue:(NSOperationQueue *)queue;
- (NSURLSessionDataTask *)dataTaskWithRequest:(NSURLRequest *)request;
@end

extern void NSLog(NSString *format, ...);
extern Class NSClassFromString(NSString *name);
extern uint32_t arc4random(void);
extern size_t strlen(const char *text);
extern size_t strlcpy(char *to, const char *from, size_t room);
extern char *strndup(const char *text, size_t length);
