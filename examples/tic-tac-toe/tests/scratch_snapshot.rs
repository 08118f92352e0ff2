use playerthree_game::Game;
#[test]
fn snapshot() {
    let text =
        serde_json::to_string_pretty(&playerthree_tic_tac_toe::TicTacToe.manifest().to_ordered()).unwrap();
    std::fs::write(std::env::var("SNAP").unwrap() + "/tic-tac-toe.json", text).unwrap();
}
