package main

import (
	"os"
	"strconv"

	analytics "github.com/segmentio/analytics-go/v3"
)

func main() {
	client, err := analytics.NewWithConfig(os.Getenv("KEY"), analytics.Config{Endpoint: os.Getenv("URL")})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	switch os.Getenv("SCENARIO") {
	case "kinds":
		client.Enqueue(analytics.Identify{UserId: "u-88", Traits: analytics.NewTraits().Set("plan", "gold").Set("seats", 14)})
		client.Enqueue(analytics.Track{UserId: "u-88", Event: "Seat Reserved", Properties: analytics.NewProperties().Set("hall", "B").Set("price", 18.5)})
		client.Enqueue(analytics.Page{UserId: "u-88", Name: "Seats", Properties: analytics.NewProperties().Set("path", "/seats")})
		client.Enqueue(analytics.Screen{UserId: "u-88", Name: "Programme", Properties: analytics.NewProperties().Set("day", "Friday")})
		client.Enqueue(analytics.Group{UserId: "u-88", GroupId: "g-7", Traits: analytics.NewTraits().Set("name", "Friends of film")})
		client.Enqueue(analytics.Alias{UserId: "u-88", PreviousId: "u-77"})
	case "anonymous":
		client.Enqueue(analytics.Track{AnonymousId: "a-5", Event: "Opened"})
	default:
		count, _ := strconv.Atoi(os.Getenv("COUNT"))
		for n := 0; n < count; n++ {
			client.Enqueue(analytics.Track{UserId: "u-88", Event: "Counted", Properties: analytics.NewProperties().Set("n", n)})
		}
	}
}
