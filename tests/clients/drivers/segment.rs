use segment::message::{Alias, BatchMessage, Group, Identify, Page, Screen, Track, User};
use segment::{AutoBatcher, Batcher, HttpClient};
use serde_json::json;
use std::env::var;

#[tokio::main]
async fn main() {
    let client = HttpClient::new(Default::default(), var("URL").unwrap());
    let mut analytics = AutoBatcher::new(client, Batcher::new(None), var("KEY").unwrap());
    let user = || User::UserId { user_id: "u-88".into() };
    let mut messages: Vec<BatchMessage> = Vec::new();
    match var("SCENARIO").unwrap().as_str() {
        "kinds" => {
            messages.push(Identify { user: user(), traits: json!({"plan": "gold", "seats": 14}), ..Default::default() }.into());
            messages.push(Track { user: user(), event: "Seat Reserved".into(), properties: json!({"hall": "B", "price": 18.5}), ..Default::default() }.into());
            messages.push(Page { user: user(), name: "Seats".into(), properties: json!({"path": "/seats"}), ..Default::default() }.into());
            messages.push(Screen { user: user(), name: "Programme".into(), properties: json!({"day": "Friday"}), ..Default::default() }.into());
            messages.push(Group { user: user(), group_id: "g-7".into(), traits: json!({"name": "Friends of film"}), ..Default::default() }.into());
            messages.push(Alias { user: user(), previous_id: "u-77".into(), ..Default::default() }.into());
        }
        "anonymous" => messages.push(Track { user: User::AnonymousId { anonymous_id: "a-5".into() }, event: "Opened".into(), ..Default::default() }.into()),
        _ => {
            for n in 0..var("COUNT").unwrap().parse::<u32>().unwrap() {
                messages.push(Track { user: user(), event: "Counted".into(), properties: json!({"n": n}), ..Default::default() }.into());
            }
        }
    }
    for message in messages {
        analytics.push(message).await.unwrap();
    }
    analytics.flush().await.unwrap();
}
