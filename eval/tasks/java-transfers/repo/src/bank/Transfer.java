package bank;

public record Transfer(String from, String to, long cents) {
}
