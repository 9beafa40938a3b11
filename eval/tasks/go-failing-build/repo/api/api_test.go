package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.test/kv/api"
	"example.test/kv/cache"
	"example.test/kv/memory"
)

func TestRoundTrip(t *testing.T) {
	handler := api.Handler{Store: cache.New(memory.New())}
	do := func(method, body string) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(method, "/a", strings.NewReader(body)))
		return recorder
	}
	if code := do(http.MethodPut, "1").Code; code != http.StatusNoContent {
		t.Fatalf("PUT: %d", code)
	}
	if got := do(http.MethodGet, ""); got.Code != http.StatusOK || got.Body.String() != "1" {
		t.Fatalf("GET: %d %q", got.Code, got.Body)
	}
	do(http.MethodDelete, "")
	if code := do(http.MethodGet, "").Code; code != http.StatusNotFound {
		t.Fatalf("GET after DELETE: %d", code)
	}
}
